"""Networks that were exported to ONNX and read again: equal outputs, equal gradients, exported once more."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.jit.export import layer_of, traced
from engine.onnx.extra import onnx_package
from engine.onnx.read_file import parse, read_content
from engine.onnx.write_file import write
from engine.onnx.write_model import write_model
from tests.engine.onnx.test_export import Branches
from tests.engine.onnx.test_layers import quantized, values
from tests.engine.onnx.test_networks import LONG, NETWORKS, with_statistics

TOLERANCE = 1e-5  # of the largest


def read_again(net: Any, specs: list[Any], folder: Path, name: str = "model") -> Any:
    """The network as a Layer that was read from its ONNX file, without the process that reads it first."""
    paddle.onnx.export(net, str(folder / name), input_spec=specs)
    path = folder / f"{name}.onnx"
    return layer_of(parse(read_content(path), path))


def inputs_of(specs: list[Any], seed: int = 1) -> list[Any]:
    random = np.random.default_rng(seed)
    shapes = ([3 if d in (None, -1) else d for d in spec.shape] for spec in specs)
    return [paddle.to_tensor(random.standard_normal(shape).astype(np.float32)) for shape in shapes]


def apart(found: np.ndarray, wanted: np.ndarray) -> float:
    assert found.shape == wanted.shape
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-30))


def gradients(net: Any, inputs: list[Any]) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """The outputs, and the parameters with their gradients of the sum of squares."""
    for parameter in net.parameters():
        parameter.clear_gradient()
    result = net(*inputs)
    (result * result).mean().backward()
    trained = [p for p in net.parameters() if p.grad is not None]
    return result.numpy(), [(p.numpy(), p.grad.numpy()) for p in trained]


def require_equal(net: Any, again: Any, inputs: list[Any]) -> None:
    """Outputs, and the gradient of each parameter, which has the same values in both."""
    wanted, source = gradients(net, inputs)
    found, read = gradients(again, inputs)
    assert apart(found, wanted) <= TOLERANCE
    assert source
    largest = max(np.abs(g).max() for _, g in source)
    for value, gradient in source:
        same = [g for v, g in read if v.shape == value.shape and np.array_equal(v, value)]
        assert any(np.abs(g - gradient).max() <= TOLERANCE * largest for g in same), value.shape


class Small(nn.Layer):
    """A convolution, a batch norm and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(2, 3, 3, padding=1)
        self.norm = nn.BatchNorm2D(3)
        self.head = nn.Linear(3 * 16, 2)

    def forward(self, x: Any) -> Any:
        x = nn.functional.relu(self.norm(self.conv(x)))
        return self.head(paddle.flatten(nn.functional.max_pool2d(x, 2), 1))


def test_read_network_has_outputs_and_gradients_of_its_source(tmp_path: Path) -> None:
    specs = [paddle.static.InputSpec([None, 2, 8, 8], "float32", "photo")]
    net = with_statistics(Small(), specs)
    again = read_again(net, specs, tmp_path)
    assert again.program().inputs == ["photo"]
    inputs = inputs_of(specs)
    for layer in (net, again):  # in training mode statistics are the batch's
        layer.train()
    require_equal(net, again, inputs)
    net.eval(), again.eval()
    assert apart(again(*inputs).numpy(), net(*inputs).numpy()) <= TOLERANCE
    third = read_again(again, specs, tmp_path, "again")
    assert apart(third(*inputs).numpy(), net(*inputs).numpy()) <= TOLERANCE


def test_dropout_of_a_read_network_drops_while_it_trains(tmp_path: Path) -> None:
    node = onnx_package().helper.make_node("Dropout", ["x", "share"], ["y"])
    helper = onnx_package().helper
    info = [helper.make_tensor_value_info(name, 1, ["n", 50]) for name in ("x", "y")]
    share = onnx_package().numpy_helper.from_array(np.array(0.4, np.float32), "share")
    model = helper.make_model(
        helper.make_graph([node], "g", info[:1], info[1:], [share]),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    net = layer_of(parse(model.SerializeToString(), tmp_path / "m.onnx"))
    x = paddle.ones([4, 50])
    assert np.array_equal(net(x).numpy(), x.numpy())
    net.train()
    assert set(np.unique(net(x).numpy().round(4))) == {0.0, np.float32(1.6667)}


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in NETWORKS if LONG or n not in ("mobilenet_v1", "mobilenet_v2")])
def test_networks_are_read_as_they_were(name: str, tmp_path: Path) -> None:
    make, specs = NETWORKS[name]
    net = with_statistics(make(), specs)
    again = read_again(net, specs, tmp_path)
    inputs = inputs_of(specs)
    again.train(), again.eval()
    for x in inputs:
        x.stop_gradient = False  # so that gradients are recorded in the mode for prediction
    require_equal(net, again, inputs)
    third = read_again(again, specs, tmp_path, "again")
    assert apart(third(*inputs).numpy(), net(*inputs).numpy()) <= TOLERANCE


class Boxes(nn.Layer):
    """Boxes of a linear layer, the best of which remain."""

    def __init__(self) -> None:
        super().__init__()
        self.box = nn.Linear(6, 4)
        self.score = nn.Linear(6, 1)

    def forward(self, x: Any) -> Any:
        sides = paddle.abs(self.box(x))
        boxes = paddle.concat([sides[:, :2], sides[:, :2] + sides[:, 2:]], axis=1)
        scores = self.score(x)[:, 0]
        kept = paddle.vision.ops.nms(boxes, 0.4, scores)
        return paddle.gather(boxes, kept), paddle.gather(scores, kept)


@pytest.mark.parametrize("make", [Branches, Boxes])
def test_networks_of_branches_loops_and_boxes_are_read_as_they_were(make: Any, tmp_path: Path) -> None:
    net = make()
    net.eval()
    features = 4 if make is Branches else 6
    specs = [paddle.static.InputSpec([None, features], "float32", "x")]
    again = read_again(net, specs, tmp_path)
    third = read_again(again, specs, tmp_path, "again")
    for sign in (1, -1):
        x = inputs_of([paddle.static.InputSpec([7, features])])[0].abs() * sign
        for layer in (again, third):
            for found, wanted in zip(layer(x), net(x), strict=True):
                assert apart(found.numpy(), wanted.numpy()) <= TOLERANCE


@pytest.mark.parametrize("options", [{}, {"round_type": 1}])
def test_networks_of_small_integers_are_read_as_they_were(options: Any, tmp_path: Path) -> None:
    made = quantized(**options)
    path = tmp_path / "model.onnx"
    x = paddle.to_tensor(values(3, 1, 28, 28))
    wanted = made.layer()(x).numpy()
    program = made.program
    sizes = []
    for _ in range(2):
        write(write_model(program, {}), str(path))
        again = layer_of(parse(read_content(path), path))
        assert apart(again(x).numpy(), wanted) <= TOLERANCE
        stored = Counter(array.numpy().dtype.name for array in again.state_dict().values())
        assert stored["int8"] == 5
        program = traced(again)[0]
        sizes.append(path.stat().st_size)
    assert sizes[1] < 1.25 * sizes[0]  # of floats it would be three times as large
