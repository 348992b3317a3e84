"""Parameters of a guard saved and read again: our container, and folders that Paddle wrote."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import AbsentError, ArgumentError, FormatError
from engine.fluid import dygraph
from engine.fluid.dygraph.checkpoint import FILE


class Net(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._fc = fluid.dygraph.FC(self.full_name(), 3)

    def forward(self, x: Any) -> Any:
        return self._fc(x)


def ones() -> Any:
    return fluid.dygraph.to_variable(np.ones((2, 2), np.float32))


def test_a_second_guard_loads_by_name_what_the_first_one_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "save_dir"
    with fluid.dygraph.guard():
        net = Net("mnist")
        first = net(ones()).numpy()
        fluid.dygraph.save_persistables(net.state_dict(), str(folder))
    assert [p.name for p in folder.iterdir()] == [FILE]
    with fluid.dygraph.guard():
        found, optimizers = fluid.dygraph.load_persistables(str(folder))
        assert list(found) == ["mnist/Net_0/FC_0.w_0", "mnist/Net_0/FC_0.b_0"]
        assert optimizers == {}
        assert found["mnist/Net_0/FC_0.w_0"].name == "mnist/Net_0/FC_0.w_0"
        again = Net("mnist")
        again.load_dict(found)  # before the first call makes its parameters
        np.testing.assert_array_equal(again(ones()).numpy(), first)
    assert capsys.readouterr().out == (
        "No optimizer loaded. If you didn't save optimizer, please ignore this. "
        "The program can still work with new optimizer. \n"
    )


def stream(array: np.ndarray[Any, Any], number: int) -> bytes:
    desc = bytes((8, number)) + b"".join(bytes((16, n)) for n in array.shape)
    return (
        struct.pack("<IQIi", 0, 0, 0, len(desc))
        + desc
        + array.astype(array.dtype.newbyteorder("<")).tobytes()
    )


def test_a_folder_of_paddles_own_files_is_read_and_its_pickles_are_not(tmp_path: Path) -> None:
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    (tmp_path / "mnist" / "Net_0").mkdir(parents=True)
    (tmp_path / "mnist" / "Net_0" / "FC_0.w_0").write_bytes(stream(weight, 5))
    (tmp_path / "step").write_bytes(stream(np.array([7]), 3))
    (tmp_path / ".hidden").write_bytes(b"not a tensor")
    (tmp_path / "optimizers").mkdir()
    (tmp_path / "optimizers" / "SGDOptimizer_0").write_bytes(b"cos\nabort\n(tR.")
    with pytest.warns(UserWarning, match="pickles are not loaded"):
        found, optimizers = fluid.dygraph.load_persistables(str(tmp_path))
    assert optimizers == {}
    assert sorted(found) == ["mnist/Net_0/FC_0.w_0", "step"]
    np.testing.assert_array_equal(found["mnist/Net_0/FC_0.w_0"].numpy(), weight)
    assert found["step"].numpy().dtype == np.int64


def test_the_bytes_that_paddle_writes_for_two_by_three_floats(tmp_path: Path) -> None:
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    data = bytes(16) + bytes((6, 0, 0, 0, 8, 5, 16, 2, 16, 3)) + weight.tobytes()
    (tmp_path / "w").write_bytes(data)
    found, _ = fluid.dygraph.load_persistables(str(tmp_path))
    np.testing.assert_array_equal(found["w"].numpy(), weight)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d[:10], "not a tensor"),
        (lambda d: d[:-1], "bytes of values"),
        (lambda d: d + b"x", "bytes of values"),
        (lambda d: b"\1" + d[1:], "version 1"),
        (lambda d: d[:4] + b"\1" + d[5:], "LoD"),
        (lambda d: d[:21] + b"\x63" + d[22:], "data type 99"),
        (lambda d: d[:16] + b"\xff\xff\xff\x7f" + d[20:], "description"),
        (lambda d: d[:22] + b"\x10\xff", "no end|ends"),
        (
            lambda d: d[:22] + b"\x18" + d[23:],
            "12 bytes of values too many",
        ),  # an unknown field: one size less
    ],
)
def test_damaged_tensors_are_refused_by_name(tmp_path: Path, change: Any, said: str) -> None:
    (tmp_path / "w").write_bytes(change(stream(np.ones((2, 3), np.float32), 5)))
    with pytest.raises(FormatError, match=said) as caught:
        fluid.dygraph.load_persistables(str(tmp_path))
    assert str(tmp_path / "w") in str(caught.value)


def test_missing_files_and_invalid_states_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AbsentError, match="no such folder"):
        fluid.dygraph.load_persistables(str(tmp_path / "none"))
    with pytest.raises(AbsentError, match="neither exists"):
        fluid.load_dygraph(str(tmp_path / "none"))
    with pytest.raises(ArgumentError, match="state_dict"):
        fluid.dygraph.save_persistables([1], str(tmp_path))
    with pytest.raises(ArgumentError, match="file name"):
        fluid.save_dygraph({"x": 1}, str(tmp_path) + "/")


def test_save_dygraph_writes_a_layers_state_and_load_dygraph_both(tmp_path: Path) -> None:
    with fluid.dygraph.guard():
        net = Net("net")
        net(ones())
        fluid.save_dygraph(net.state_dict(), str(tmp_path / "model"))
        fluid.save_dygraph({"moment": ones(), "global_step": 3}, str(tmp_path / "model"))
        parameters, optimizer = fluid.load_dygraph(str(tmp_path / "model"))
        assert sorted(parameters) == ["net/Net_0/FC_0.b_0", "net/Net_0/FC_0.w_0"]
        assert optimizer["global_step"] == 3
        np.testing.assert_array_equal(optimizer["moment"], np.ones((2, 2)))
        net.set_dict(parameters)
    (tmp_path / "model.pdopt").unlink()
    assert fluid.load_dygraph(str(tmp_path / "model.pdparams"))[1] is None


DECAYS = {
    "piecewise": lambda: dygraph.PiecewiseDecay([2, 4], [0.1, 0.01, 0.001], begin=0),
    "exponential": lambda: dygraph.ExponentialDecay(0.1, 3, 0.5, staircase=True),
    "natural": lambda: dygraph.NaturalExpDecay(0.1, 3, 0.5),
    "inverse": lambda: dygraph.InverseTimeDecay(0.1, 3, 0.5),
    "polynomial": lambda: dygraph.PolynomialDecay(0.1, 5, cycle=True),
    "cosine": lambda: dygraph.CosineDecay(0.1, 2, 3),
    "noam": lambda: dygraph.NoamDecay(16, 3),
    "warmup": lambda: dygraph.LinearLrWarmup(dygraph.CosineDecay(0.1, 2, 3), 2, 0.0, 0.1),
}


@pytest.mark.parametrize("kind", DECAYS)
def test_a_decay_continues_where_it_was_saved(kind: str, tmp_path: Path) -> None:
    with dygraph.guard():
        net = Net("net")
        net(ones())
        optimizer = fluid.optimizer.SGDOptimizer(DECAYS[kind]())
        for _ in range(3):
            optimizer._learning_rate()
        dygraph.save_persistables(net.state_dict(), str(tmp_path), optimizer)
        rest = [optimizer._learning_rate().numpy().item() for _ in range(4)]
    with dygraph.guard():
        _, decays = dygraph.load_persistables(str(tmp_path))
        again = fluid.optimizer.SGDOptimizer(DECAYS[kind]())
        assert list(decays) == [again._name]
        again.load(decays)
        assert [again._learning_rate().numpy().item() for _ in range(4)] == rest


class Own(dygraph.LearningRateDecay):
    def step(self) -> float:
        return 1.0 / (1 + self.step_num)


def test_a_scripts_own_decay_is_reported_and_an_optimizer_without_one_too(tmp_path: Path) -> None:
    with dygraph.guard():
        net = Net("net")
        net(ones())
        plain = fluid.optimizer.SGDOptimizer(0.1)
        with pytest.warns(UserWarning, match="Optimizer not saved, Only optimizer with 'LearningRateDecay'"):
            dygraph.save_persistables(net.state_dict(), str(tmp_path), [plain])
        own = fluid.optimizer.SGDOptimizer(Own())
        dygraph.save_persistables(net.state_dict(), str(tmp_path), [own])
        with pytest.warns(UserWarning, match="of the class 'Own', which fluid does not have"):
            assert dygraph.load_persistables(str(tmp_path))[1] == {}
        own._learning_rate.table = object()
        with pytest.raises(ArgumentError, match=r"Own\.table is object"):
            dygraph.save_persistables(net.state_dict(), str(tmp_path), [own])
