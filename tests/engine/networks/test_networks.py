"""Gradients of whole networks, every parameter, against torch's in float64 (``record.py`` recorded them)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
import engine.nn.functional as F
from engine import nn
from tests.engine.networks.formulas import inputs, weights

RELATIVE = 1e-6


@cache
def _recorded() -> Any:
    return json.loads((Path(__file__).parent / "gradients.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    before = paddle.get_default_dtype()
    paddle.set_default_dtype("float64")
    yield
    paddle.set_default_dtype(before)


def _filled(net: Any, names: list[str]) -> dict[str, Any]:
    """The parameters by name, set to the recorder's weights; the names must be the recorder's."""
    parameters = {name: p for name, p in net.named_parameters() if name in set(names)}
    assert sorted(parameters) == names
    for k, name in enumerate(names):
        p = parameters[name]
        is_scale = name.endswith(".weight") and len(p.shape) == 1
        p.set_value(weights(p.shape, k, is_scale))
    return parameters


def _check(network: str, net: Any, loss: Any) -> None:
    recorded = _recorded()[network]
    parameters = _filled(net, list(recorded["gradients"]))
    value = loss(net)
    value.backward()
    assert value.item() == pytest.approx(recorded["loss"], rel=1e-9)
    # A gradient may be nothing but rounding (a key's bias has none): measured against the smallest real one.
    real = [g["norm"] for g in recorded["gradients"].values() if g["norm"] > 1e-6]
    for name, want in recorded["gradients"].items():
        gradient = parameters[name].grad.numpy().reshape(-1)
        scale = max(want["norm"], min(real))
        assert abs(np.linalg.norm(gradient) - want["norm"]) <= RELATIVE * scale, name
        picked, values = gradient[want["places"]], np.asarray(want["values"])
        # Relative to the entry, down to a thousandth of the gradient's root mean square.
        floor = 1e-3 * scale / np.sqrt(gradient.size)
        assert np.max(np.abs(picked - values) / (np.abs(values) + floor)) < RELATIVE, name


def _cross_entropy(net: Any) -> Any:
    x = paddle.to_tensor(inputs(8, 3, 32, 32))
    return F.cross_entropy(net(x), paddle.to_tensor([3, 1, 4, 1, 5, 9, 2, 6]))


@pytest.mark.parametrize("static", [False, True])
def test_resnet18(static: bool) -> None:
    net = paddle.vision.models.resnet18(num_classes=10)
    if static:
        paddle.jit.to_static(net)
    _check("resnet18", net, _cross_entropy)


def test_lstm() -> None:
    def loss(net: Any) -> Any:
        out, (h, c) = net(paddle.to_tensor(inputs(3, 7, 5)))
        return (out**2).sum() + (h * 0.5).sum() + (c**3).sum()

    _check("lstm", nn.LSTM(5, 6, num_layers=2, direction="bidirectional"), loss)


def test_gru() -> None:
    def loss(net: Any) -> Any:
        out, h = net(paddle.to_tensor(inputs(3, 7, 5)))
        return (out**2).sum() + (h * 0.5).sum()

    _check("gru", nn.GRU(5, 6, num_layers=2, direction="bidirectional"), loss)


@pytest.mark.parametrize(
    ("network", "options"),
    [
        ("transformer", {"activation": "relu"}),
        ("transformer normalized first", {"activation": "gelu", "normalize_before": True}),
    ],
)
def test_transformer_block(network: str, options: dict[str, Any]) -> None:
    net = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, **options)
    _check(network, net, lambda net: (net(paddle.to_tensor(inputs(3, 6, 8))) ** 3).sum())
