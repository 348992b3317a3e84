"""``summary`` and ``flops`` print and return what Paddle's do (``record_tables.py`` recorded it)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import engine as paddle
from engine import nn
from engine.core import names
from engine.core.errors import ArgumentError
from tests.engine.hapi.table_calls import cases

CALLS = cases(paddle)


@cache
def _recorded() -> Any:
    return json.loads((Path(__file__).parent / "recorded_tables.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CALLS)
def test_printed_text_and_result(name: str, capsys: Any) -> None:
    with names.guard():
        result = CALLS[name]()
    assert capsys.readouterr().out.split("\n") == _recorded()[name]["lines"]
    assert result == _recorded()[name]["result"]


def test_the_network_is_as_before() -> None:
    net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.Dropout())
    net[2].eval()
    before = net.state_dict()["1._mean"].numpy()
    paddle.summary(net, (2, 3, 8, 8))
    paddle.flops(net, [2, 3, 8, 8], {nn.Dropout: lambda layer, x, y: None})
    assert [layer.training for layer in net.sublayers(include_self=True)] == [True, True, True, False]
    assert (net.state_dict()["1._mean"].numpy() == before).all()
    assert not any(layer._forward_post_hooks for layer in net.sublayers())
    assert "2.total_ops" not in net.state_dict()
    assert not hasattr(net[2], "total_ops")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: paddle.summary(nn.Linear(3, 4)), "cannot be None at the same time"),
        (lambda: paddle.summary(nn.Linear(3, 4), (0, 3)), "greater than zero, but got 0"),
        (lambda: paddle.summary(nn.Linear(3, 4), (2, 3.5)), "greater than zero, but got 3.5"),
        (lambda: paddle.flops(paddle.static.Program(), [2, 3]), "only Layers are counted"),
    ],
)
def test_invalid_arguments_of_summary_and_flops_are_refused(call: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        call()


def test_flops_of_a_non_network_warns() -> None:
    with pytest.warns(UserWarning, match="Your model must be"):
        assert paddle.flops(len, [1]) == -1  # type: ignore[arg-type]


def test_a_converted_network_shows_its_layers(capsys: pytest.CaptureFixture[str]) -> None:
    net = paddle.jit.to_static(nn.Sequential(nn.Linear(4, 3), nn.ReLU()))
    net(paddle.ones([1, 4]))
    assert paddle.summary(net, (1, 4)) == {"total_params": 15, "trainable_params": 15}
    assert "Linear-" in capsys.readouterr().out
    assert paddle.flops(net, [1, 4]) > 0
