"""Static mode, with Programs, names and a scope of its own for each test; no measured choices."""

import pytest

import engine as paddle
from engine.core import names
from engine.kernels.fast import measured
from engine.static import Program, Scope, program_guard, scope_guard


@pytest.fixture
def static():
    """paddle.static, in static mode."""
    paddle.enable_static()
    try:
        with names.guard(), program_guard(Program(), Program()), scope_guard(Scope()):
            yield paddle.static
    finally:
        paddle.disable_static()


@pytest.fixture(autouse=True)
def measurements(monkeypatch):
    """Compiled code is always the fastest: a busy machine may measure anything."""
    monkeypatch.setattr(measured, "measured", lambda ways: next(iter(ways)))
