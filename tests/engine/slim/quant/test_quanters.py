"""Quanters of PaddleSlim: they compute and learn what paddleslim 2.6.0 does, and can be converted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError
from engine.quantization import QAT, QuantConfig
from engine.quantization.quanters import FakeQuanterWithAbsMaxObserver
from engine.slim.quant import quanters
from tests.engine.slim.quant.samples import trained

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).with_name("recorded") / "quanters.json").read_text(encoding="utf-8")
)
HERE = trained(paddle, quanters, FakeQuanterWithAbsMaxObserver)


@pytest.mark.parametrize("name", sorted(HERE))
def test_quanters_compute_what_paddleslims_do(name: str) -> None:
    assert RECORDED["paddleslim"] == "2.6.0"
    np.testing.assert_allclose(HERE[name], RECORDED["numbers"][name], rtol=2e-5, atol=2e-6)


CHANNELS = quanters.FakeQuanterChannelWiseAbsMaxObserver
PACT = quanters.PACTQuanter(FakeQuanterWithAbsMaxObserver(moving_rate=0.1), init_value=1.0, learning_rate=1.0)
STEPS = quanters.WeightLSQplusQuanter(per_channel=True)


def quantized(activation: Any, weight: Any) -> tuple[QAT, Any]:
    paddle.seed(1)
    qat = QAT(QuantConfig(activation, weight))
    net = qat.quantize(nn.Sequential(nn.Conv2D(1, 4, 3), nn.Flatten(), nn.Linear(16, 3)))
    optimizer = paddle.optimizer.SGD(1e-5, parameters=net.parameters())
    for n in range(3):
        net(images(n)).square().mean().backward()
        optimizer.step()
        optimizer.clear_grad()
    net.eval()
    return qat, net


def images(seed: int, size: float = 1.0) -> Any:
    rng = np.random.default_rng(seed)
    return paddle.to_tensor((rng.standard_normal((8, 1, 4, 4)) * size).astype("float32"))


@pytest.mark.parametrize("weight", [CHANNELS(), CHANNELS(bit_length=3)])
def test_converted_channels_are_exact(weight: Any) -> None:
    qat, net = quantized(FakeQuanterWithAbsMaxObserver(), weight)
    converted = qat.convert(net)
    for size in (1.0, 8.0):
        assert np.array_equal(converted(images(5, size)).numpy(), net(images(5, size)).numpy())
    assert converted[2].weight_quanter._dequanter._quant_axis == 1


def test_pact_keeps_its_end_of_values_when_converted() -> None:
    qat, net = quantized(PACT, CHANNELS())
    converted = qat.convert(net)
    x = images(5, 3.0)
    # The scale is the end that was learned, so that values beyond it are cut off either way.
    np.testing.assert_allclose(converted(x).numpy(), net(x).numpy(), atol=0.05)


@pytest.mark.parametrize("activation", [quanters.ActLSQplusQuanter(), FakeQuanterWithAbsMaxObserver()])
@pytest.mark.parametrize("weight", [STEPS, quanters.WeightLSQplusQuanter()])
def test_learned_steps_are_converted(activation: Any, weight: Any) -> None:
    qat, net = quantized(activation, weight)
    x = images(5)
    wanted = net(x).numpy()
    assert np.abs(wanted).max() > 0.1
    assert np.abs(qat.convert(net)(x).numpy() - wanted).max() < 0.02 * np.abs(wanted).max()


def test_steps_of_channels_are_those_of_columns() -> None:
    layer = nn.Linear(4, 3)
    columns, rows = np.array([0.01, 1.0, 100.0], np.float32), np.array([1, -1, 0.5, 0.2], np.float32)
    values = np.outer(rows, columns)
    layer.weight.set_value(values)
    each = STEPS._instance(layer)
    for _ in range(4):
        out = each(layer.weight).numpy()
    steps = each.scales().numpy()
    np.testing.assert_allclose(steps[1:] / steps[:-1], 100.0, rtol=1e-3)
    assert np.abs(out / values - 1).max() < 0.2


def test_learned_steps_are_loaded() -> None:
    qat, net = quantized(quanters.ActLSQplusQuanter(), STEPS)
    net[0].weight_quanter._scale.set_value(net[0].weight_quanter._scale * 1.5)
    other = qat.quantize(nn.Sequential(nn.Conv2D(1, 4, 3), nn.Flatten(), nn.Linear(16, 3)))
    other.set_state_dict(net.state_dict())
    other(images(3, 4.0))  # a call in training, which would move steps that are still to be found
    other.eval()
    assert np.array_equal(other(images(5)).numpy(), net(images(5)).numpy())


def test_quanters_refuse_unsupported_layers_and_arguments() -> None:
    with pytest.raises(ArgumentError, match="integers have a sign"):
        quanters.ActLSQplusQuanter(sign=False)._instance(nn.Linear(1, 1))
    with pytest.raises(ArgumentError, match=r"knows the channels of .* only: got a Embedding"):
        CHANNELS()._instance(nn.Embedding(2, 2))
    each = quanters.ActLSQplusQuanter(symmetric=False)._instance(nn.Linear(1, 1))
    with pytest.raises(ArgumentError, match="with an offset"):
        each.scales()
