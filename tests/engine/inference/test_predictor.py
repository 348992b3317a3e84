"""Predictors: the outputs of jit.load, from files, folders and bytes, in threads too."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import inference, jit, nn, static
from engine.core.errors import AbsentError, ArgumentError, DTypeError, ShapeError, UnreadyError
from engine.core.place import get_device
from engine.inference import Config, DataType, create_predictor
from engine.jit.saved.change_format import change_format


class _Network(nn.Layer):
    """Two inputs, two outputs, a dropout, a batch norm and a branch."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2D(4)
        self.drop = nn.Dropout(0.5)
        self.line = nn.Linear(4 * 16, 3)

    def forward(self, x: Any, y: Any) -> Any:
        hidden = self.drop(nn.functional.relu(self.norm(self.conv(x))))
        scores = self.line(hidden.flatten(1)) + y.astype("float32")
        if scores.sum() > 0:
            scores = scores * 2.0
        return scores, scores.argmax(-1)


def _values(count: int, seed: int = 0) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    return draw.standard_normal((count, 1, 4, 4)).astype("float32"), draw.integers(0, 3, (count, 1))


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> str:
    paddle.seed(3)
    network = _Network()
    network.train()
    network(*(paddle.to_tensor(v) for v in _values(8)))  # running statistics that are not 0 and 1
    path = str(tmp_path_factory.mktemp("model") / "net")
    specs = [
        static.InputSpec([None, 1, 4, 4], "float32", "x"),
        static.InputSpec([None, 1], "int64", "y"),
    ]
    jit.save(network, path, specs)
    return path


def _config(prefix: str) -> Config:
    return Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams")


def _expected(prefix: str, values: Any) -> list[Any]:
    return [t.numpy() for t in jit.load(prefix)(*(paddle.to_tensor(v) for v in values))]


def _through_handles(predictor: inference.Predictor, values: Any) -> list[Any]:
    for name, value in zip(predictor.get_input_names(), values, strict=True):
        handle = predictor.get_input_handle(name)
        handle.reshape(value.shape)
        handle.copy_from_cpu(value)
    assert predictor.run() is True
    return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def _same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("optimized", [True, False])
def test_outputs_are_those_of_jit_load(prefix: str, optimized: bool) -> None:
    config = _config(prefix)
    config.switch_ir_optim(optimized)
    predictor = create_predictor(config)
    assert predictor.get_input_names() == ["x", "y"]
    for count in (2, 5):
        values = _values(count, count)
        _same(_through_handles(predictor, values), _expected(prefix, values))
        given = predictor.run([paddle.to_tensor(v) for v in values])
        _same([t.numpy() for t in given], _expected(prefix, values))


def test_where_the_model_comes_from(prefix: str, tmp_path: Path) -> None:
    values = _values(3)
    program, params = (Path(f"{prefix}.{ending}").read_bytes() for ending in ("pdmodel", "pdiparams"))
    in_memory = Config()
    in_memory.set_model_buffer(program, len(program), params, len(params))
    assert in_memory.model_from_memory()
    renamed = tmp_path / "graph.bin", tmp_path / "weights.bin"
    renamed[0].write_bytes(program)
    renamed[1].write_bytes(params)
    later = Config()
    later.set_prog_file(f"{prefix}.pdmodel")
    later.set_params_file(f"{prefix}.pdiparams")
    sources = [
        Config(prefix),
        Config(str(Path(prefix).parent)),
        in_memory,
        Config(str(renamed[0]), str(renamed[1])),
        later,
        Config(_config(prefix)),
    ]
    expected = _expected(prefix, values)
    for config in sources:
        _same(_through_handles(create_predictor(config), values), expected)


def test_files_of_static_graphs(tmp_path: Path) -> None:
    main, startup = static.Program(), static.Program()
    paddle.enable_static()
    try:
        with static.program_guard(main, startup):
            x = static.data("x", [None, 3])
            out = static.nn.fc(x, 2)
        executor = static.Executor()
        executor.run(startup)
        static.save_inference_model(str(tmp_path / "m"), [x], [out], executor, program=main)
        value = np.ones((4, 3), "float32")
        (expected,) = executor.run(main, feed={"x": value}, fetch_list=[out])
    finally:
        paddle.disable_static()
    predictor = create_predictor(Config(str(tmp_path / "m")))
    (found,) = predictor.run([value])
    np.testing.assert_array_equal(found.numpy(), expected)
    before = set(static.global_scope().local_var_names())
    create_predictor(Config(str(tmp_path / "m")))
    assert set(static.global_scope().local_var_names()) == before, "predictors have parameters of their own"


def test_clones_in_threads(prefix: str) -> None:
    first = create_predictor(_config(prefix))
    pool = [first, *(first.clone() for _ in range(3))]
    wrong: list[Any] = []

    def work(predictor: inference.Predictor, number: int) -> None:
        try:
            for turn in range(6):
                values = _values(1 + (number + turn) % 3, 10 * number + turn)
                _same(_through_handles(predictor, values), expected[number, turn])
        except BaseException as error:
            wrong.append(error)

    expected = {
        (n, t): _expected(prefix, _values(1 + (n + t) % 3, 10 * n + t)) for n in range(4) for t in range(6)
    }
    threads = [threading.Thread(target=work, args=(p, n)) for n, p in enumerate(pool)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_handles(prefix: str) -> None:
    predictor = create_predictor(_config(prefix))
    x, out = predictor.get_input_handle("x"), predictor.get_output_handle(predictor.get_output_names()[1])
    assert (x.shape(), x.type(), out.type()) == ([0], DataType.FLOAT32, DataType.INT64)
    with pytest.raises(RuntimeError, match="'x', 'y'"):
        predictor.run()
    with pytest.raises(UnreadyError, match="call run"):
        out.copy_to_cpu()
    with pytest.raises(RuntimeError, match="there is no 'z'"):
        predictor.get_input_handle("z")
    with pytest.raises(DTypeError, match="takes a NumPy array: got list"):
        x.copy_from_cpu([1.0])
    with pytest.raises(TypeError, match="takes a Tensor: got ndarray"):
        x.share_external_data(np.ones(3))
    x.reshape([2, 1, 4, 4])
    assert x.shape() == [2, 1, 4, 4]
    values = _values(2)
    shared = paddle.to_tensor(values[0])
    x.share_external_data(shared)
    predictor.get_input_handle("y").copy_from_cpu(values[1])
    predictor.run()
    _same([out.copy_to_cpu()], _expected(prefix, values)[1:])
    shared.set_value(values[0] * 3)  # shared: the next run reads what is there then
    predictor.run()
    _same([out.copy_to_cpu()], _expected(prefix, (values[0] * 3, values[1]))[1:])
    assert out.lod() == []
    x.set_lod([[0, 1, 2]])
    assert x.lod() == [[0, 1, 2]]
    x.copy_from_cpu(values[0][:, :, :3])
    with pytest.raises(ShapeError, match="feed 'x' has shape"):
        predictor.run()
    predictor.clear_intermediate_tensor()
    assert predictor.try_shrink_memory() == 0
    with pytest.raises(UnreadyError):
        out.copy_to_cpu()
    with pytest.raises(ArgumentError, match="got 1 inputs: the model takes"):
        predictor.run([shared])


def test_hooks_see_what_each_operator_computes(prefix: str) -> None:
    predictor = create_predictor(_config(prefix))
    seen: list[tuple[str, str, Any]] = []
    predictor.register_output_hook(lambda kind, name, value: seen.append((kind, name, value.shape)))
    values = _values(2)
    found = predictor.run([paddle.to_tensor(v) for v in values])
    _same([t.numpy() for t in found], _expected(prefix, values))
    kinds = [kind for kind, _, _ in seen]
    assert kinds.index("conv2d") < kinds.index("batch_norm") < kinds.index("relu") < kinds.index("matmul_v2")
    assert next(shape for kind, _, shape in seen if kind == "conv2d") == [2, 4, 4, 4]
    predictor.clone().run([paddle.to_tensor(v) for v in values])
    assert len(seen) == len(kinds)


def test_pools(prefix: str) -> None:
    pool = inference.PredictorPool(_config(prefix), 2)
    assert pool.retrive(0) is not pool.retrive(1)
    assert pool.retrive(1)._model is pool.retrive(0)._model
    with pytest.raises(ValueError, match="there are 2: got 2"):
        pool.retrive(2)


def test_models_that_are_not_there(tmp_path: Path) -> None:
    for config in (
        Config(str(tmp_path / "no")),
        Config(str(tmp_path / "a.x"), str(tmp_path / "b.x")),
        Config(str(tmp_path)),
    ):
        with pytest.raises(AbsentError):
            create_predictor(config)
    with pytest.raises(ArgumentError, match="names no model"):
        create_predictor(Config())
    with pytest.raises(DTypeError, match="takes a Config: got str"):
        create_predictor("net")  # type: ignore[arg-type]


def test_a_predictor_leaves_the_mode_alone(prefix: str) -> None:
    values = _values(2)
    paddle.enable_static()
    try:
        found = _through_handles(create_predictor(_config(prefix)), values)
        assert not paddle.in_dynamic_mode()
    finally:
        paddle.disable_static()
    _same(found, _expected(prefix, values))
    assert get_device() == "cpu"


def test_one_packed_file(prefix: str, tmp_path: Path) -> None:
    packed = str(tmp_path / "net.h5")
    change_format(prefix, packed, "packed")
    values = _values(3)
    for config in (Config(packed), Config(packed, ""), Config(str(tmp_path))):
        _same(_through_handles(create_predictor(config), values), _expected(prefix, values))
    half = str(tmp_path / "half")
    inference.convert_to_mixed_precision(
        packed, "", half, "", inference.PrecisionType.Half, inference.PlaceType.CPU
    )
    assert Path(f"{half}.pdiparams").stat().st_size < Path(f"{prefix}.pdiparams").stat().st_size
    paddle.enable_static()
    try:
        _, feeds, fetches = static.load_inference_model(packed, static.Executor())
        assert (feeds, len(fetches)) == (["x", "y"], 2)
    finally:
        paddle.disable_static()
