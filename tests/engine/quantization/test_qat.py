"""QAT: networks that learn with the errors of their quantization, and are converted and saved then."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import jit, nn
from engine.core.errors import ArgumentError
from engine.quantization import QAT, BaseQuanter, QuantConfig, factory, observers, quanter
from engine.quantization.quanters import FakeQuanterWithAbsMaxObserver

__all__: list[str] = []


class Net(nn.Layer):
    """The first parameter of forward is not called self: Paddle can't save a copy of such a network."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 3, 3)
        self.act = nn.ReLU()
        self.fc = nn.Sequential(nn.Linear(12, 6), nn.Tanh(), nn.Linear(6, 4))

    def forward(net, x: Any) -> Any:
        return net.fc(paddle.flatten(net.act(net.conv(x)), 1))


def images(seed: int = 0, size: float = 1.0, count: int = 5) -> Any:
    rng = np.random.default_rng(seed)
    return paddle.to_tensor((rng.standard_normal((count, 1, 4, 4)) * size).astype("float32"))


def quantized(bits: int = 8) -> tuple[QAT, Any]:
    paddle.seed(3)
    one = FakeQuanterWithAbsMaxObserver(bit_length=bits)
    qat = QAT(QuantConfig(one, one))
    return qat, qat.quantize(Net())


def train(net: Any, step: Any, steps: int = 3) -> list[float]:
    optimizer = paddle.optimizer.SGD(0.05, parameters=net.parameters())
    losses = []
    for n in range(steps):
        loss = nn.functional.cross_entropy(step(images(n)), paddle.to_tensor([0, 1, 2, 3, 0]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


@pytest.mark.parametrize("bits", [2, 4, 8, 12])
@pytest.mark.parametrize("remain_weight", [False, True])
def test_the_converted_network_computes_the_same_to_the_last_bit(bits: int, remain_weight: bool) -> None:
    qat, net = quantized(bits)
    train(net, net)
    net.eval()
    converted = qat.convert(net, remain_weight=remain_weight)
    for seed, size in ((1, 1.0), (2, 10.0), (3, 0.01)):  # far outside the scales too
        x = images(seed, size, 50)
        assert np.array_equal(converted(x).numpy(), net(x).numpy()), (bits, seed)
    integers = converted.conv.weight.numpy()
    assert np.array_equal(integers, np.rint(integers)) is not remain_weight


def test_halves_and_what_lies_outside_are_rounded_alike() -> None:
    """The steps of 1 / 127 lie where both ways of rounding differ."""
    one = FakeQuanterWithAbsMaxObserver()
    net = nn.Sequential(nn.ReLU6())
    qat = QAT(QuantConfig(one, None))
    net = qat.quantize(net)
    net[0]._observer._scale.set_value(np.array([127.0], np.float32))
    net.eval()
    x = paddle.to_tensor(np.array([-200.0, -127.6, -0.5, 0.5, 1.5, 2.5, 3.5], np.float32))
    assert net(x).tolist() == [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    assert net[0]._observer(x).tolist()[:2] == [-127.0, -127.0]
    converted = qat.convert(net)
    assert np.array_equal(converted[0]._observer(x).numpy(), net[0]._observer(x).numpy())


def test_saved_and_loaded_to_the_last_bit(tmp_path: Path) -> None:
    qat, net = quantized()
    train(net, net)
    net.eval()
    x = images(7, 2.0)
    spec = [paddle.static.InputSpec([None, 1, 4, 4], "float32", "x")]
    jit.save(qat.convert(net), str(tmp_path / "model"), input_spec=spec)
    loaded = jit.load(str(tmp_path / "model"))
    assert np.array_equal(loaded(x).numpy(), net(x).numpy())
    types = [op.type for op in loaded.program().global_block().ops]
    assert types.count("quantize_linear") == 5  # three inputs of layers with weights, relu and tanh
    assert types.count("dequantize_linear") == 8
    assert not [each for each in types if each.startswith("fake_")]
    names = [name for name, _ in loaded.named_parameters()] + [name for name, _ in loaded.named_buffers()]
    assert len([name for name in names if "scale" in name]) == 8  # both halves of a pair read one


def test_a_network_that_is_not_converted_can_be_saved_too(tmp_path: Path) -> None:
    _, net = quantized()
    train(net, net)
    net.eval()
    x = images(7, 2.0)
    spec = [paddle.static.InputSpec([None, 1, 4, 4], "float32", "x")]
    jit.save(net, str(tmp_path / "model"), input_spec=spec)
    assert np.array_equal(jit.load(str(tmp_path / "model"))(x).numpy(), net(x).numpy())


def test_training_converted_to_static_is_training() -> None:
    _, net = quantized()
    other = copy.deepcopy(net)
    eager = train(net, net)
    static = train(other, jit.to_static(other))
    np.testing.assert_allclose(static, eager, rtol=1e-6)
    for (name, one), (_, two) in zip(net.state_dict().items(), other.state_dict().items(), strict=True):
        np.testing.assert_allclose(two.numpy(), one.numpy(), rtol=1e-5, atol=1e-7, err_msg=name)
    scale = float(net.conv.activation_quanter._scale)
    state, accum = float(net.conv.activation_quanter._state), float(net.conv.activation_quanter._accum)
    assert state == pytest.approx(1 * 0.9**3 + 0.9**2 + 0.9 + 1)
    assert scale == pytest.approx(accum / state)


def test_state_is_loaded_into_another_copy() -> None:
    qat, net = quantized()
    train(net, net)
    other = qat.quantize(Net())
    missing, unexpected = other.set_state_dict(net.state_dict())
    assert (missing, unexpected) == ([], [])
    net.eval()
    other.eval()
    assert np.array_equal(other(images(9)).numpy(), net(images(9)).numpy())


def test_training_makes_a_network_of_few_bits_better() -> None:
    """With 3 bits a straight line is learned around the errors of rounding."""
    paddle.seed(5)
    one = FakeQuanterWithAbsMaxObserver(bit_length=3)
    qat = QAT(QuantConfig(None, one))
    net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 1))
    net = qat.quantize(net)
    rng = np.random.default_rng(0)
    x = paddle.to_tensor(rng.standard_normal((64, 8)).astype("float32"))
    y = (x * paddle.to_tensor(np.linspace(-1, 1, 8, dtype="float32"))).sum(1, keepdim=True)
    optimizer = paddle.optimizer.Adam(0.02, parameters=net.parameters())
    losses = []
    for _ in range(60):
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert min(losses[-5:]) < 0.3 * losses[0]


@quanter("HalvingQuanter")
class HalvingQuanterLayer(BaseQuanter):
    """Halves what it sees."""

    def __init__(self, layer: Any, bits: int = 8) -> None:
        super().__init__()
        self.bits = bits

    def forward(self, input: Any) -> Any:
        return input * 0.5

    def scales(self) -> Any:
        return paddle.to_tensor([0.5])

    def zero_points(self) -> None:
        return None

    def quant_axis(self) -> int:
        return -1

    def bit_length(self) -> int:
        return self.bits


def test_the_decorator_makes_a_factory_in_the_module() -> None:
    made = globals()["HalvingQuanter"]
    assert __all__ == ["HalvingQuanter"]
    assert issubclass(made, factory.QuanterFactory)
    assert (made.__name__, made.__module__) == ("HalvingQuanter", __name__)
    one = made(bits=4)
    assert str(one) == "HalvingQuanter(bits=4)"
    net = QAT(QuantConfig(one, None)).quantize(nn.Sequential(nn.ReLU()))
    assert type(net[0]._observer) is HalvingQuanterLayer
    assert net[0]._observer.bits == 4
    assert net(paddle.to_tensor([2.0])).tolist() == [1.0]
    with pytest.raises(ArgumentError, match="the factory's name is a Python name: got 'not one'"):
        quanter("not one")


@pytest.mark.parametrize("bits", [1, 17, 2.5, True])
def test_bits_that_there_are_not(bits: Any) -> None:
    for one in (FakeQuanterWithAbsMaxObserver(bit_length=bits), observers.AbsmaxObserver(bits)):
        with pytest.raises(ArgumentError, match=f"{bits} bits can't be used; choose .* from 2 to 16"):
            QAT(QuantConfig(one, None)).quantize(Net())


def test_a_single_layer_is_refused() -> None:
    """Layers within a network are replaced: nothing could be done to it."""
    one = FakeQuanterWithAbsMaxObserver()
    with pytest.raises(ArgumentError, match="a Linear has no layers within"):
        QAT(QuantConfig(one, one)).quantize(nn.Linear(2, 2))


def test_a_quantized_network_is_refused() -> None:
    qat, net = quantized()
    with pytest.raises(ArgumentError, match=r"QAT\.quantize: the model is quantized already"):
        qat.quantize(net)
