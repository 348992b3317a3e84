"""Cross-layer equalization: the same results from weights whose channels are alike, and what for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import nn
from engine.jit.export import traced
from engine.nn import functional as F
from engine.quantization.options import QuantizeOptions
from engine.quantization.quantize_model import quantize_layer
from engine.quantization.weights.equalization import equalize
from engine.static import InputSpec


class Net(nn.Layer):
    """Each kind of neighbours: image to image, to filters of each channel, to a matrix, matrices."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 6, 3, padding=1)
        self.each = nn.Conv2D(6, 6, 3, groups=6, bias_attr=False)
        self.point = nn.Conv2D(6, 4, 1)
        self.fc1 = nn.Linear(4 * 3 * 3, 8)
        self.fc2 = nn.Linear(8, 5)
        self.last = nn.Linear(5, 3)

    def forward(self, x: Any) -> Any:
        x = F.relu(self.each(F.relu(self.conv(x))))
        x = F.max_pool2d(F.leaky_relu(self.point(x), 0.1), 2, 2)
        x = F.relu(self.fc1(engine.flatten(x, 1)))
        return self.last(F.tanh(self.fc2(x)))  # nothing passes through tanh


SPEC = [InputSpec([None, 1, 8, 8], name="x")]


def uneven(seed: int = 0) -> Net:
    """A network whose channels are up to 100 times apart: what a batch norm that is folded may leave."""
    engine.seed(seed)
    net, random = Net(), np.random.default_rng(seed)
    net.eval()

    def scale(parameter: Any, factor: np.ndarray) -> None:
        parameter.set_value((parameter.numpy() * factor).astype("float32"))

    a, b, c, d = (10.0 ** random.uniform(-1, 1, size) for size in (6, 6, 4, 8))
    scale(net.conv.weight, a.reshape(6, 1, 1, 1))
    scale(net.conv.bias, a)
    scale(net.each.weight, (b / a).reshape(6, 1, 1, 1))
    scale(net.point.weight, c.reshape(4, 1, 1, 1) / b.reshape(1, 6, 1, 1))
    scale(net.point.bias, c)
    scale(net.fc1.weight, np.repeat(1 / c, 9)[:, None] * d)
    scale(net.fc1.bias, d)
    scale(net.fc2.weight, 1 / d[:, None])
    return net


def answer(net: Any, x: np.ndarray) -> np.ndarray:
    found: np.ndarray = net(engine.to_tensor(x)).numpy()
    return found


IMAGES = np.random.default_rng(5).normal(size=(16, 1, 8, 8)).astype("float32")


def test_results_stay_and_ranges_become_alike() -> None:
    net = uneven()
    expected = answer(net, IMAGES)
    program, _ = traced(net, SPEC)
    assert equalize(program) == 4
    np.testing.assert_allclose(answer(net, IMAGES), expected, rtol=1e-4, atol=1e-5)

    def ranges(weight: Any, axis: int) -> np.ndarray:
        rows = np.moveaxis(np.abs(weight.numpy()), axis, 0)
        found: np.ndarray = rows.reshape(len(rows), -1).max(axis=1)
        return found

    pairs = [
        (net.conv.weight, 0, net.each.weight, 0),
        (net.each.weight, 0, net.point.weight, 1),
        (net.fc1.weight, 1, net.fc2.weight, 0),
    ]
    for first, out, second, into in pairs:
        np.testing.assert_allclose(ranges(first, out), ranges(second, into), rtol=0.02)
    flat = np.abs(net.fc1.weight.numpy()).reshape(4, -1).max(axis=1)
    np.testing.assert_allclose(ranges(net.point.weight, 0), flat, rtol=0.02)


def rounded(weight: Any, bits: int) -> None:
    """Rounds a weight in place, with one threshold for all of it."""
    values = weight.numpy()
    step = np.abs(values).max() / (2 ** (bits - 1) - 1)
    weight.set_value((np.rint(values / step) * step).astype("float32"))


def test_one_threshold_for_a_weight_does_much_less_harm() -> None:
    noises = []
    for first_equalized in (False, True):
        net = uneven()
        exact = answer(net, IMAGES)
        if first_equalized:
            equalize(traced(net, SPEC)[0])
        for parameter in net.parameters():
            if len(parameter.shape) > 1:
                rounded(parameter, 8)
        noises.append(float(np.square(answer(net, IMAGES) - exact).sum() / np.square(exact).sum()))
    assert noises[1] < 0.1 * noises[0]


def test_a_dead_channel_stays_as_it_is() -> None:
    net = uneven()
    weight = net.conv.weight.numpy()
    weight[2] = 0.0
    net.conv.weight.set_value(weight)
    expected = answer(net, IMAGES)
    equalize(traced(net, SPEC)[0])
    assert not net.conv.weight.numpy()[2].any()
    np.testing.assert_allclose(answer(net, IMAGES), expected, rtol=1e-4, atol=1e-5)


class Hindered(nn.Layer):
    """Two layers with something between or around them that lets no factor through."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.a, self.b = nn.Conv2D(2, 2, 1), nn.Conv2D(2, 2, 1)
        self.bias = self.create_parameter([1, 2, 1, 1])

    def forward(self, x: Any) -> Any:
        made = self.a(x)
        if self.kind == "relu6":
            made = F.relu6(made)
        elif self.kind == "read twice":
            return self.b(made) + made
        elif self.kind == "shared weight":
            return self.a(made)
        elif self.kind == "a bias behind relu":
            made = F.relu(made) + self.bias
        elif self.kind == "an output":
            return made, self.b(made)
        elif self.kind == "another layout":
            return F.conv2d(made, self.b.weight, data_format="NHWC")
        return self.b(made)


@pytest.mark.parametrize(
    "kind", ["relu6", "read twice", "shared weight", "a bias behind relu", "an output", "another layout"]
)
def test_layers_with_an_obstacle_between_them_are_not_equalized(kind: str) -> None:
    engine.seed(0)
    net = Hindered(kind)
    before = {name: value.numpy() for name, value in net.state_dict().items()}
    assert equalize(traced(net, [InputSpec([None, 2, 2, 2], name="x")])[0]) == 0
    assert all(np.array_equal(value.numpy(), before[name]) for name, value in net.state_dict().items())
    assert equalize(traced(Hindered("none"), [InputSpec([None, 2, 2, 2], name="x")])[0]) == 1


def test_as_an_option_the_network_itself_stays_as_it_is() -> None:
    net, noises = uneven(), []
    exact, before = answer(net, IMAGES), net.conv.weight.numpy()
    for on in (False, True):
        options = QuantizeOptions(algo="abs_max", weight_type="abs_max", activation_bits=16, equalize=on)
        found = answer(quantize_layer(net, SPEC, [IMAGES], options).layer(), IMAGES)
        noises.append(float(np.square(found - exact).sum() / np.square(exact).sum()))
    assert noises[1] < 0.1 * noises[0]
    np.testing.assert_array_equal(net.conv.weight.numpy(), before)
