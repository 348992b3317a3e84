"""Sequences of uneven lengths in Programs: values, lengths and gradients that Paddle 2.6.2 recorded."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid, inference, static
from engine.core.errors import ArgumentError, ModeError, ShapeError
from tests.engine.static.nn.sequence_cases import CASES

RECORDED = json.loads(Path(__file__).with_name("recorded_sequences.json").read_text(encoding="utf-8"))
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)
PLACE = fluid.CPUPlace()


class Functions:
    """The functions that a case calls; ``parameters`` has those that ``with_parameters`` made."""

    def __init__(self) -> None:
        self.parameters: list[str] = []

    def with_parameters(self, name: str, arrays: dict[str, Any], *args: Any, **options: Any) -> Any:
        assign = engine.nn.initializer.Assign
        attrs = {key: engine.ParamAttr(key, assign(value)) for key, value in arrays.items()}
        self.parameters += list(attrs)
        return getattr(fluid.layers, name)(*args, **options, **attrs)

    def decoded(self, arrays: dict[str, Any], x: Any, label: Any, compared: Any) -> Any:
        """The tags of ``crf_decoding`` by the parameter of a ``linear_chain_crf``."""
        self.with_parameters("linear_chain_crf", arrays, x, label)
        return fluid.layers.crf_decoding(x, engine.ParamAttr(self.parameters.pop()), compared)

    def __getattr__(self, name: str) -> Any:
        return getattr(static.nn if name.startswith("sequence_") else fluid.layers, name)


@pytest.fixture(autouse=True)
def program() -> Iterator[Any]:
    engine.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main, static.Program()), engine.utils.unique_name.guard():
            yield main
    finally:
        engine.disable_static()


def data(name: str, array: Any, levels: int) -> Any:
    made = static.data(
        name, [None, *array.shape[1:]] if levels else list(array.shape), str(array.dtype), levels
    )
    made.stop_gradient = array.dtype.kind != "f"
    return made


def run(feed: Any, fetch: Any, **options: Any) -> Any:
    executor = static.Executor()
    executor.run(static.default_startup_program())
    return executor.run(static.default_main_program(), feed, fetch, **options)


def rows(lengths: list[list[int]] | None = None, array: Any = ROWS) -> Any:
    return fluid.create_lod_tensor(array, lengths or [[2, 0, 3, 1]], PLACE)


def test_they_are_of_the_version_that_the_engine_follows() -> None:
    assert RECORDED["version"] == "2.6.2"
    assert set(RECORDED) == {*CASES, "version"}


@pytest.mark.parametrize("case", CASES)
def test_values_lengths_and_gradients_are_those_of_paddle(case: str, program: Any) -> None:
    nn, recorded, feed, given = Functions(), RECORDED[case], {}, []
    for n, (array, lengths) in enumerate(CASES[case].inputs):
        given.append(data(f"x{n}", array, len(lengths)))
        feed[f"x{n}"] = rows(lengths, array) if lengths else array
    made = CASES[case].build(nn, *given)
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    floats = [each for each in made if each.dtype.name == "float32"][: CASES[case].summed]
    wanted = [v for v in given if not v.stop_gradient]
    wanted += [program.global_block().var(name) for name in nn.parameters]
    gradients = [None] * len(wanted)
    if floats and wanted:
        loss = engine.add_n([engine.sum(engine.square(each)) for each in floats])
        gradients = static.gradients(loss, wanted)
    known = [each for each in gradients if each is not None]
    found = run(feed, [*made, *known], return_numpy=False)
    for value, expected in zip(found, recorded["outputs"], strict=False):
        array = np.array(value)
        assert str(array.dtype) == expected["dtype"]
        assert value.recursive_sequence_lengths() == expected["lengths"]
        np.testing.assert_allclose(array, np.reshape(expected["data"], array.shape), rtol=2e-5, atol=2e-6)
    slopes = iter(found[len(made) :])
    for variable, gradient in zip(wanted, gradients, strict=True):
        expected = recorded["gradients"][variable.name]
        assert (gradient is None) == (expected is None)
        if gradient is not None:
            np.testing.assert_allclose(np.array(next(slopes)), expected, rtol=5e-5, atol=2e-5)


def test_lengths_pass_through_layers_of_rows() -> None:
    x = static.data("x", [None, 1], "int64", 1)
    y = fluid.layers.embedding(x, [10, 4])
    y = fluid.layers.fc(y, 3, act="tanh")
    y = fluid.layers.dropout(y, 0.5, is_test=True) * 2.0 + fluid.layers.fc(y, 3)
    y = fluid.layers.concat([y, fluid.layers.softmax(y)], axis=1)
    y = fluid.layers.reshape(fluid.layers.cast(y, "float64"), [-1, 3, 2])
    y = fluid.layers.reduce_sum(y, dim=1)[:, 0:2]
    pooled = fluid.layers.sequence_pool(y, "sum")
    ids = fluid.create_lod_tensor([[1, 2], [3, 4, 5]], [[2, 3]], PLACE)
    many, few = run({"x": ids}, [y, pooled], return_numpy=False)
    assert many.lod() == [[0, 2, 5]]
    assert few.lod() == []
    np.testing.assert_allclose(np.array(few), np.add.reduceat(np.array(many), [0, 2]))


@pytest.mark.parametrize(
    "lost",
    [
        lambda x: fluid.layers.transpose(x, [1, 0]),
        lambda x: fluid.layers.reduce_sum(x, dim=0, keep_dim=True),
        lambda x: fluid.layers.concat([x, x], axis=0),
        lambda x: fluid.layers.gather(x, fluid.layers.fill_constant([2], "int64", 0)),
        lambda x: engine.matmul(x, x, transpose_x=True),
    ],
)
def test_layers_that_mix_rows_pass_no_lengths_on(lost: Any) -> None:
    with pytest.raises(ArgumentError, match=r"sequence_pool: .* has no lengths .*does not pass lengths on"):
        static.nn.sequence_pool(lost(static.data("x", [None, 2], "float32", 1)), "sum")


def test_data_without_levels_has_no_lengths() -> None:
    with pytest.raises(ArgumentError, match=r"\(InvalidArgument\) .*'x'.*lod_level=1"):
        static.nn.sequence_pool(static.data("x", [None, 2]), "sum")


def test_an_array_has_no_lengths_for_a_layer_that_needs_them() -> None:
    x = static.data("x", [None, 2], "float32", 1)
    pooled, doubled = static.nn.sequence_pool(x, "sum"), x * 2
    with pytest.raises(ArgumentError, match=r"lengths of the sequences in \['x'\].*create_lod_tensor"):
        run({"x": ROWS}, [pooled])
    np.testing.assert_array_equal(run({"x": ROWS}, [doubled])[0], ROWS * 2)


def test_results_with_lengths_are_no_arrays() -> None:
    x = static.data("x", [None, 2], "float32", 1)
    doubled, pooled = x * 2, static.nn.sequence_pool(x, "sum")
    with pytest.raises(ModeError, match="Some of your fetched tensors hold LoD information"):
        run({"x": rows()}, [doubled])
    assert issubclass(ModeError, RuntimeError)
    (value,) = run({"x": rows()}, [doubled], return_numpy=False)
    assert value.lod() == [[0, 2, 2, 5, 6]]
    np.testing.assert_array_equal(np.array(value), ROWS * 2)
    assert isinstance(run({"x": rows()}, [pooled])[0], np.ndarray)


def test_lengths_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"lod info is invalid: \[\[2, 3\]\].*6 rows"):
        rows([[2, 3]])
    with pytest.raises(ArgumentError, match="0 or more"):
        rows([[7, -1]])
    x = static.data("x", [None, 2], "float32", 1)
    made = fluid.layers.lod_reset(x * 1.0, target_lod=[0, 2, 5])
    with pytest.raises(ShapeError, match="lengths of the sequences add up to 5, and there are 6 rows"):
        run({"x": rows()}, [made], return_numpy=False)


def test_every_run_has_its_own_lengths() -> None:
    x = static.data("x", [None, 2], "float32", 1)
    pooled = static.nn.sequence_pool(x, "sum")
    for lengths in ([[2, 0, 3, 1]], [[6]], [[1, 2, 1, 2]], [[3, 3]]):
        starts = np.cumsum([0, *lengths[0]])
        expected = [ROWS[a:b].sum(0) for a, b in itertools.pairwise(starts)]
        np.testing.assert_array_equal(run({"x": rows(lengths)}, [pooled])[0], expected)


def test_no_sequence_has_rows() -> None:
    x = static.data("x", [None, 2], "float32", 1)
    made = [static.nn.sequence_pool(x, kind) for kind in ("sum", "average", "max", "first", "last")]
    for found in run({"x": rows([[0, 0]], ROWS[:0])}, made):
        np.testing.assert_array_equal(found, np.zeros((2, 2)))


def test_a_result_without_dimensions_is_fetched() -> None:
    x = static.data("x", [None, 2], "float32", 1)
    mean = engine.mean(x)
    assert run({"x": rows()}, [mean])[0].shape == ()
    (value,) = run({"x": rows()}, [mean], return_numpy=False)
    assert (value.shape(), value.lod(), float(np.array(value))) == ([], [], 5.5)


def test_gradients_pass_through_with_lengths() -> None:
    x = data("x", ROWS, 1)
    y = fluid.layers.lod_reset(x, target_lod=[0, 1, 6])
    (first,) = static.gradients(engine.sum(static.nn.sequence_pool(y * y * y, "sum")), [x])
    np.testing.assert_allclose(run({"x": rows()}, [first])[0], 3 * ROWS**2)


def test_lod_reset_takes_lengths_of_another_value_and_offsets() -> None:
    x, y = static.data("x", [None, 2], "float32", 1), static.data("y", [None, 1], "float32", 1)
    offsets = static.data("offsets", [None], "int32")
    made = [
        fluid.layers.lod_reset(x, y),
        fluid.layers.lod_reset(x, offsets),
        fluid.layers.lod_reset(x, target_lod=[0, 3, 6]),
        fluid.layers.lod_append(fluid.layers.lod_reset(x, target_lod=[0, 2, 6]), [1] * 6),
    ]
    feed = {"x": rows(), "y": rows([[5, 1]], ROWS[:, :1]), "offsets": np.array([0, 1, 6], np.int32)}
    found = [value.recursive_sequence_lengths() for value in run(feed, made, return_numpy=False)]
    assert found == [[[5, 1]], [[1, 5]], [[3, 3]], [[2, 4], [1] * 6]]


def test_a_clone_for_tests_and_a_saved_model_take_lengths(program: Any, tmp_path: Path) -> None:
    x = static.data("x", [None, 2], "float32", 1)
    hidden, _ = fluid.layers.dynamic_lstm(fluid.layers.fc(x, 12), 12)
    out = fluid.layers.fc(fluid.layers.sequence_pool(fluid.layers.dropout(hidden, 0.5), "max"), 1)
    executor = fluid.Executor(PLACE)
    executor.run(static.default_startup_program())
    tested = program.clone(for_test=True)
    (expected,) = executor.run(tested, {"x": rows()}, [out])
    again = executor.run(tested, {"x": rows()}, [hidden], return_numpy=False)
    assert again[0].lod() == [[0, 2, 2, 5, 6]]
    fluid.io.save_inference_model(str(tmp_path), ["x"], [out], executor, main_program=tested)
    with fluid.scope_guard(fluid.Scope()):
        loaded, names, fetched = fluid.io.load_inference_model(str(tmp_path), executor)
        assert names == ["x"]
        (found,) = executor.run(loaded, {"x": rows()}, fetched)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    predictor = inference.create_predictor(inference.Config(str(tmp_path / "__model__")))
    assert predictor.get_input_names() == ["x"]
    handle = predictor.get_input_handle("x")
    handle.copy_from_cpu(ROWS)
    handle.set_lod([[0, 2, 2, 5, 6]])
    assert predictor.run()
    result = predictor.get_output_handle(predictor.get_output_names()[0])
    np.testing.assert_allclose(result.copy_to_cpu(), expected, rtol=1e-5)
    assert result.lod() == []


def test_parts_of_a_batch_for_several_devices_are_one() -> None:
    x = static.data("x", [None, 2], "float32", 1)
    pooled = static.nn.sequence_pool(x, "sum")
    compiled = static.CompiledProgram(static.default_main_program()).with_data_parallel()
    parts = [{"x": rows([[1, 1]], ROWS[:2])}, {"x": rows([[3, 1]], ROWS[2:])}]
    (found,) = static.Executor().run(compiled, parts, [pooled])
    np.testing.assert_array_equal(found, [ROWS[0], ROWS[1], ROWS[2:5].sum(0), ROWS[5]])
