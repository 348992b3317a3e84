"""The switch of primitive operators, which Paddle's scripts set before they ask for derivatives."""

from __future__ import annotations

import pytest

import engine as paddle
from engine.core.errors import ModeError
from engine.incubate import autograd


def test_the_switch_is_remembered_and_rewrites_nothing() -> None:
    assert not autograd.prim_enabled()
    autograd.enable_prim()
    try:
        assert autograd.prim_enabled()
    finally:
        autograd.disable_prim()
    assert not autograd.prim_enabled()
    with pytest.raises(ModeError, match="static mode only"):
        autograd.prim2orig()
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            paddle.tanh(paddle.static.data("x", [2]))
            before = str(main)
            autograd.prim2orig()
        assert str(main) == before
    finally:
        paddle.disable_static()
