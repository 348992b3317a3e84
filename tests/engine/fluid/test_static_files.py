"""The static side of fluid: a Program fed by a DataFeeder, saved, loaded, and profiled."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import AbsentError, ArgumentError, FormatError
from tests.engine.files.paddle.test_lod_tensor import COMBINED, WEIGHT


@pytest.fixture
def program() -> Iterator[Any]:
    with (
        fluid.program_guard(fluid.Program(), fluid.Program()),
        fluid.scope_guard(fluid.Scope()),
        fluid.unique_name.guard(),
    ):
        engine.enable_static()
        x = fluid.layers.data(name="x", shape=[2], dtype="float32")
        out = fluid.layers.fc(x, 3, act="softmax")
        executor = fluid.Executor(fluid.CPUPlace())
        executor.run(fluid.default_startup_program())
        yield x, out, executor
    engine.disable_static()


def run(executor: Any, out: Any) -> Any:
    return executor.run(feed={"x": np.ones((2, 2), np.float32)}, fetch_list=[out])[0]


@pytest.mark.parametrize("filename", [None, "all"])
def test_values_come_back(program: Any, tmp_path: Path, filename: str | None) -> None:
    _, out, executor = program
    before = run(executor, out)
    fluid.io.save_params(executor, str(tmp_path), filename=filename)
    executor.run(fluid.default_startup_program())
    for name in fluid.global_scope().local_var_names():
        value = fluid.global_scope().find_var(name).get_tensor()
        value.set(np.zeros_like(value.numpy()))
    assert not np.array_equal(run(executor, out), before)
    fluid.io.load_params(executor, str(tmp_path), filename=filename)
    np.testing.assert_array_equal(run(executor, out), before)


def test_each_variable_is_saved_in_a_file_of_its_name(program: Any, tmp_path: Path) -> None:
    x, _, executor = program
    fluid.layers.fc(x, 3, param_attr=fluid.ParamAttr(name="net/inner.w_0"), bias_attr=False)
    executor.run(fluid.default_startup_program())
    fluid.io.save_persistables(executor, str(tmp_path))
    names = sorted(v.name for v in fluid.default_main_program().list_vars() if fluid.io.is_persistable(v))
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()) == names
    # The habit of LARK's init_checkpoint: what a folder has is loaded.
    kept, gone = np.ones((2, 3), np.float32), fluid.global_scope().find_var(names[0]).get_tensor()
    gone.set(np.full(gone.shape(), 7, np.float32), fluid.CPUPlace())
    (tmp_path / names[0]).unlink()
    fluid.global_scope().find_var("net/inner.w_0").get_tensor().set(kept, fluid.CPUPlace())
    fluid.io.load_vars(executor, str(tmp_path), predicate=lambda var: (tmp_path / var.name).exists())
    assert np.array(gone).min() == 7
    assert not np.array_equal(np.array(fluid.global_scope().find_var("net/inner.w_0").get_tensor()), kept)


def test_single_files_of_paddle_are_read_and_missing_ones_named(program: Any, tmp_path: Path) -> None:
    _, out, executor = program
    for parameter in fluid.default_main_program().all_parameters():
        desc = bytes((8, 5)) + b"".join(bytes((16, n)) for n in parameter.shape)
        data = np.ones(parameter.shape, "<f4").tobytes()
        (tmp_path / parameter.name).write_bytes(struct.pack("<IQIi", 0, 0, 0, len(desc)) + desc + data)
    fluid.io.load_persistables(executor, str(tmp_path))
    np.testing.assert_allclose(run(executor, out), np.full((2, 3), 1 / 3), rtol=1e-6)
    (tmp_path / parameter.name).unlink()
    with pytest.raises(AbsentError, match="no such file"):
        fluid.io.load_persistables(executor, str(tmp_path))


def test_the_one_file_that_paddle_writes_is_read_by_the_order_of_names(program: Any, tmp_path: Path) -> None:
    x, out, executor = program
    fluid.layers.fc(x, 3, param_attr=fluid.ParamAttr(name="fc.w_0"), bias_attr=fluid.ParamAttr(name="fc.b_0"))
    names = ["fc.w_0", "fc.b_0"]
    (tmp_path / "params").write_bytes(COMBINED)
    executor.run(fluid.default_startup_program())
    fluid.io.load_vars(executor, str(tmp_path), vars=names, filename="params")
    scope = fluid.global_scope()
    np.testing.assert_array_equal(
        np.array(scope.find_var("fc.b_0").get_tensor()), np.full(3, -0.01, np.float32)
    )
    np.testing.assert_allclose(np.array(scope.find_var("fc.w_0").get_tensor()), WEIGHT, rtol=1e-6)
    before = run(executor, out)
    with pytest.raises(FormatError, match="tensor 3 of 4: it ends"):  # of another Program
        fluid.io.load_params(executor, str(tmp_path), filename="params")
    np.testing.assert_array_equal(run(executor, out), before)
    (tmp_path / "foreign").write_bytes(b"PK\3\4 something else")
    with pytest.raises(FormatError, match="foreign"):
        fluid.io.load_vars(executor, str(tmp_path), vars=names, filename="foreign")


def test_names_that_lead_out_of_the_folder_are_refused(program: Any, tmp_path: Path) -> None:
    x, _, executor = program
    for name in (str(tmp_path / "outside"), "../outside"):
        fluid.layers.fc(x, 3, param_attr=fluid.ParamAttr(name=name), bias_attr=False)
        executor.run(fluid.default_startup_program())
        (tmp_path / "outside").write_bytes(COMBINED[36:])
        (tmp_path / "inner").mkdir(exist_ok=True)
        with pytest.raises(ArgumentError, match="outside of"):
            fluid.io.load_vars(executor, str(tmp_path / "inner"), vars=[name])
        with pytest.raises(ArgumentError, match="outside of"):
            fluid.io.save_vars(executor, str(tmp_path / "inner"), vars=[name])


def test_a_number_of_paddle_2_is_one_of_fluid(program: Any, tmp_path: Path) -> None:
    _, out, executor = program
    fluid.optimizer.SGD(0.5).minimize(fluid.layers.mean(out))
    executor.run(fluid.default_startup_program())
    value = np.array(0.25, "<f4").tobytes()
    (tmp_path / "learning_rate_0").write_bytes(struct.pack("<IQIi", 0, 0, 0, 2) + b"\x08\x05" + value)
    fluid.io.load_vars(executor, str(tmp_path), vars=["learning_rate_0"])
    assert np.array(fluid.global_scope().find_var("learning_rate_0").get_tensor()).tolist() == [0.25]


def test_an_inference_model(program: Any, tmp_path: Path) -> None:
    _, out, executor = program
    before = run(executor, out)
    names = fluid.io.save_inference_model(str(tmp_path), ["x"], [out], executor)
    assert names == [out.name]
    with fluid.scope_guard(fluid.Scope()):
        found, feeds, fetches = fluid.io.load_inference_model(str(tmp_path), executor)
        again = executor.run(found, {feeds[0]: np.ones((2, 2), np.float32)}, fetches)[0]
    np.testing.assert_allclose(again, before, rtol=1e-6)


def test_rows_become_what_is_fed(program: Any) -> None:
    x, _, _ = program
    label = fluid.layers.data(name="label", shape=[1], dtype="int64")
    feeder = fluid.DataFeeder([x, "label"], fluid.CPUPlace())
    fed = feeder.feed([([1.0, 2.0], 3), ([4.0, 5.0], 6)])
    assert fed["x"].dtype == np.float32
    assert fed["label"].tolist() == [[3], [6]]
    assert label.name == "label"
    with pytest.raises(ArgumentError, match="1 fields"):
        feeder.feed([([1.0, 2.0],)])


def test_the_profile_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "profile"
    with fluid.dygraph.guard(), fluid.profiler.profiler("CPU", "total", str(path)):
        fluid.layers.relu(fluid.dygraph.to_variable(np.ones((2, 2), np.float32)))
    assert "relu" in capsys.readouterr().out
    assert path.exists()
    with pytest.raises(ArgumentError, match="'TPU'"):
        fluid.profiler.start_profiler("TPU")


def test_a_helper_applies_the_activation() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.array([-1.0, 2.0], np.float32))
        assert fluid.layer_helper.LayerHelper("own", act="relu").append_activation(x).numpy().tolist() == [
            0,
            2,
        ]
        assert fluid.layer_helper.LayerHelper("own").append_activation(x) is x
