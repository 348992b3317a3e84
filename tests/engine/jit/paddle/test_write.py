"""Models written as Paddle's files: read again here they give the same outputs and weights."""

from __future__ import annotations

import pickle  # Python's own reader, as Paddle reads the file
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError
from engine.files.paddle.program_desc import parse_program
from engine.jit.saved.model_files import PADDLE, kind_of
from engine.nn import functional as F
from tests.engine.jit.paddle.models import MODELS, with_statistics


def saved(net: Any, prefix: Path, *shapes: list[Any], dtype: str = "float32") -> Any:
    """The model as Paddle's files at ``prefix``, loaded again."""
    net.eval()
    specs = [paddle.static.InputSpec(shape, dtype, f"x{n}") for n, shape in enumerate(shapes)]
    paddle.jit.save(net, str(prefix), input_spec=specs, format="paddle")
    assert kind_of(prefix) == PADDLE
    return paddle.jit.load(str(prefix))


def require_same(net: Any, loaded: Any, *inputs: Any) -> None:
    tensors = [paddle.to_tensor(np.asarray(each)) for each in inputs]
    for given, value in zip(_several(loaded(*tensors)), _several(net(*tensors)), strict=True):
        wanted, found = value.numpy(), given.numpy()
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        assert np.abs(found - wanted).max(initial=0) <= 1e-5 * max(np.abs(wanted).max(initial=0), 1e-20)


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def operators(prefix: Path) -> list[str]:
    """The types of the operators in all blocks."""
    program = parse_program(Path(f"{prefix}.pdmodel").read_bytes(), prefix)
    return [operator.type for block in program.blocks for operator in block.ops]


def test_convolutions_keep_weights_and_outputs(tmp_path: Path) -> None:
    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(2, 3, 3), paddle.nn.BatchNorm2D(3), paddle.nn.ReLU(), paddle.nn.MaxPool2D(2)
    )
    net[1]._mean.set_value(np.array([0.1, 0.2, -0.3], np.float32))
    loaded = saved(net, tmp_path / "net", [None, 2, 8, 8])
    require_same(net, loaded, np.random.default_rng(1).standard_normal((2, 2, 8, 8), np.float32))
    weights = net.state_dict()
    assert set(weights) == set(loaded.state_dict())
    for name, value in loaded.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), weights[name].numpy(), err_msg=name)
    assert operators(tmp_path / "net")[:2] == ["feed", "conv2d"]


def test_information_is_what_paddle_writes(tmp_path: Path) -> None:
    net = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.BatchNorm1D(3))
    saved(net, tmp_path / "net", [None, 2])
    information = pickle.loads((tmp_path / "net.pdiparams.info").read_bytes())
    names = {each["structured_name"]: each for each in information.values()}
    assert names["0.weight"] == {"structured_name": "0.weight", "stop_gradient": False, "trainable": True}
    assert names["1._mean"] == {"structured_name": "1._mean", "stop_gradient": True, "trainable": False}


def test_operators_that_paddle_lacks_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    class Net(paddle.nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.gcd(x, x + 6) + paddle.lcm(x, x + 1)

    with pytest.raises(ArgumentError, match=r"gcd .*test_write.py:\d+.*lcm ") as found:
        saved(Net(), tmp_path / "net", [3], dtype="int64")
    assert "\n" not in str(found.value)
    assert not list(tmp_path.iterdir())


def test_functional_softmax_after_linear(tmp_path: Path) -> None:
    class Net(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.linear = paddle.nn.Linear(4, 3)

        def forward(self, x: Any) -> Any:
            return F.softmax(self.linear(x)), x

    net = Net()
    require_same(net, saved(net, tmp_path / "net", [None, 4]), np.ones((2, 4), np.float32))


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_is_read_again_with_the_same_outputs(name: str, tmp_path: Path) -> None:
    model = MODELS[name]
    net = with_statistics(model.make())
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=model.specs(), format="paddle")
    require_same(net, paddle.jit.load(str(tmp_path / "net")), *model.inputs())


def test_layers_and_directions_are_one_operator(tmp_path: Path) -> None:
    model = MODELS["lstm"]
    paddle.jit.save(model.make(), str(tmp_path / "net"), input_spec=model.specs(), format="paddle")
    assert operators(tmp_path / "net").count("rnn") == 1
    assert "concat" not in operators(tmp_path / "net")


def test_a_model_without_weights_is_one_file(tmp_path: Path) -> None:
    paddle.jit.save(
        paddle.nn.Linear(2, 2), str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([2, 2])]
    )
    saved(paddle.nn.ReLU(), tmp_path / "net", [None, 3])
    assert [each.name for each in tmp_path.iterdir()] == ["net.pdmodel"]


@pytest.mark.parametrize("name", ["lenet", "resnet"])
def test_a_model_of_paddle_is_written_with_the_operators_that_it_had(name: str, tmp_path: Path) -> None:
    recorded = Path(__file__).parent / "recorded" / name
    loaded = paddle.jit.load(str(recorded))
    loaded.eval()
    paddle.jit.save(loaded, str(tmp_path / name), format="paddle")
    theirs = [each for each in operators(recorded) if each not in ("feed", "fetch")]
    ours = [each for each in operators(tmp_path / name) if each not in ("feed", "fetch")]
    assert ours == theirs[:-1]  # the last one only gives the output a name
    assert (tmp_path / f"{name}.pdiparams").read_bytes() == recorded.with_suffix(".pdiparams").read_bytes()
