"""Thresholds of a trained network next to those that Paddle 2.6.2 found for it: paddle/record.py."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import nn
from engine.quantization.calibration import ALGORITHMS, weight_thresholds
from engine.quantization.options import QuantizeOptions
from engine.quantization.quantize_model import quantize_layer
from engine.static import InputSpec
from tests.engine.quantization.calibration.paddle.small_lenet import BATCH, SAMPLES, build, random_images

RECORDED = json.loads((Path(__file__).parent / "paddle" / "recorded.json").read_text(encoding="utf-8"))


@cache
def lenet() -> Any:
    net = build(nn)
    weights = {name: base64.b64decode(text) for name, text in RECORDED["weights"].items()}
    for name, value in net.state_dict().items():
        halves = np.frombuffer(weights.pop(name), "<f2")
        value.set_value(halves.astype(np.float32).reshape(value.shape))
    assert weights == {}
    net.eval()
    return net


@cache
def inputs() -> list[list[np.ndarray]]:
    """What the two convolutions and the three linear layers are fed, batch after batch."""
    seen: list[list[np.ndarray]] = []
    hooks = []
    for layer in lenet():
        if isinstance(layer, nn.Conv2D | nn.Linear):
            batches: list[np.ndarray] = []
            seen.append(batches)
            hook = layer.register_forward_pre_hook(lambda _, fed, to=batches: to.append(fed[0].numpy()))
            hooks.append(hook)
    images, _ = random_images(SAMPLES, seed=2)
    with engine.no_grad():
        for start in range(0, SAMPLES, BATCH):
            lenet()(engine.to_tensor(images[start : start + BATCH]))
    for hook in hooks:
        hook.remove()  # the network is the other tests' as well
    return seen


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("algo", ["abs_max", "avg", "hist", "KL", "mse", "emd", "min_max"])
def test_thresholds_are_paddles_within_a_hundredth(algo: str, bits: int) -> None:
    for batches, expected in zip(inputs(), RECORDED["inputs"][str(bits)][algo], strict=True):
        calibrator = ALGORITHMS["paddle_KL" if algo == "KL" else algo](bits)
        for batch in batches:
            calibrator.collect(batch)
        if calibrator.passes == 2:
            for batch in batches:
                calibrator.collect_again(batch)
        found = calibrator.range() if algo == "min_max" else calibrator.threshold()  # type: ignore[attr-defined]
        assert found == pytest.approx(expected, rel=0.01)


def test_a_quantized_network_has_these_thresholds() -> None:
    fed = random_images(SAMPLES, seed=2)[0]
    batches = [fed[i : i + BATCH] for i in range(0, SAMPLES, BATCH)]
    spec = [InputSpec([None, 1, 20, 20], name="x")]
    for algo, name in (("KL", "paddle_KL"), ("mse", "mse")):
        found = quantize_layer(lenet(), spec, batches, QuantizeOptions(algo=name))
        assert [each.threshold for each in found.layers] == pytest.approx(
            RECORDED["inputs"]["8"][algo], rel=0.01
        )


def test_thresholds_of_weights_are_paddles() -> None:
    layers = [layer for layer in lenet() if isinstance(layer, nn.Conv2D | nn.Linear)]
    for layer, expected in zip(layers, RECORDED["channels"], strict=True):
        axis = 0 if isinstance(layer, nn.Conv2D) else 1
        assert weight_thresholds(layer.weight.numpy(), axis).tolist() == expected
