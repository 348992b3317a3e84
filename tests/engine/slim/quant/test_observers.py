"""Observers of PaddleSlim: their scales are those of paddleslim 2.6.0; a network is calibrated with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError, NotFiniteError
from engine.quantization import PTQ, QuantConfig
from engine.slim.quant import observers
from tests.engine.slim.quant.samples import observed, values

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).with_name("recorded") / "observers.json").read_text(encoding="utf-8")
)


def test_scales_are_those_of_paddleslim() -> None:
    assert RECORDED["paddleslim"] == "2.6.0"
    here = observed(paddle, observers)
    assert here.keys() == RECORDED["numbers"].keys()
    for name, wanted in RECORDED["numbers"].items():
        np.testing.assert_allclose(here[name], wanted, rtol=2e-6, err_msg=name)


@pytest.mark.parametrize("name", [n for n in observers.__all__ if "Weight" not in n])
def test_a_network_is_calibrated(name: str) -> None:
    paddle.seed(0)
    net = nn.Sequential(nn.Conv2D(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))
    net.eval()
    weight = observers.MSEChannelWiseWeightObserver()
    ptq = PTQ(QuantConfig(getattr(observers, name)(), weight))
    quantized = ptq.quantize(net)
    batches = [paddle.to_tensor(values((8, 1, 4, 4), n)) for n in range(3)]
    wanted = [quantized(each).numpy() for each in batches]
    converted = ptq.convert(quantized)
    assert converted[0].weight_quanter._dequanter._scales.shape == [4]
    assert converted[3].weight_quanter._dequanter._quant_axis == 1
    for x, each in zip(batches, wanted, strict=True):
        error = converted(x).numpy() - each
        assert np.sqrt(np.mean(error**2)) < 0.35 * np.sqrt(np.mean(each**2))


@pytest.mark.parametrize("name", [n for n in observers.__all__ if "Weight" not in n])
def test_a_converted_network_is_calibrated_alike(name: str) -> None:
    """A network that was trained by to_static is calibrated while its Program runs."""
    found = []
    for static in (False, True):
        paddle.seed(0)
        net = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
        net.eval()
        if static:
            paddle.jit.to_static(net)
            net(paddle.ones([1, 3]))
        weight = observers.AbsMaxChannelWiseWeightObserver()
        ptq = PTQ(QuantConfig(getattr(observers, name)(), weight))
        quantized = ptq.quantize(net)
        for n in range(3):
            quantized(paddle.to_tensor(values((20 + n, 3), n)))
        found.append(ptq.convert(quantized)(paddle.to_tensor(values((20, 3), 1))).numpy())
    assert np.array_equal(*found)
    assert np.abs(found[0]).max() > 0.01


def test_equal_values_and_zeros() -> None:
    for name in ("HistObserver", "KLObserver", "AVGObserver", "MSEObserver", "EMDObserver"):
        each = getattr(observers, name)()._instance(None)
        each(paddle.zeros([2, 3]))
        assert float(each.scales()) == 0.0, name
        each(paddle.to_tensor(values((2, 3), 0)))
        assert 0.0 < float(each.scales()) < 1.0, name


def test_observers_refuse_nan_and_invalid_arguments() -> None:
    nan = paddle.to_tensor([float("nan"), 1.0])
    for name in ("HistObserver", "KLObserver", "AVGObserver", "MSEObserver", "EMDObserver"):
        with pytest.raises(NotFiniteError, match="1 of 2 values of a batch are nan or infinite"):
            getattr(observers, name)()._instance(None)(nan)
    with pytest.raises(ArgumentError, match="integers have a sign and lie around 0"):
        observers.HistObserver(symmetric=False)._instance(None)
    with pytest.raises(ArgumentError, match=r"knows the channels of .* only: got a ReLU"):
        observers.AbsMaxChannelWiseWeightObserver()._instance(nn.ReLU())
    with pytest.raises(ArgumentError, match="percent is a share"):
        observers.HistObserver(percent=0.2)._instance(None)
