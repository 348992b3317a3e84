"""The current mode: one for the process, others for a context."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import engine
from engine.core import mode as modes


def _in_thread(function: Any) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_a_new_thread_sees_the_process_wide_mode() -> None:
    assert _in_thread(engine.in_dynamic_mode)
    engine.enable_static()
    try:
        assert not engine.in_dynamic_mode()
        assert not _in_thread(engine.in_dynamic_mode)
    finally:
        engine.disable_static()
    assert _in_thread(engine.in_dynamic_mode)


def test_a_mode_in_use_stays_in_its_context() -> None:
    other = modes.Mode()
    with modes.use(other):
        assert modes.current() is other
        assert _in_thread(modes.current) is not other
    assert modes.current() is not other


def test_use_restores_after_an_error() -> None:
    before = modes.current()
    with pytest.raises(KeyError), modes.use(modes.Mode()):
        raise KeyError
    assert modes.current() is before


def test_no_mode_no_operator() -> None:
    x = engine.ones([1])
    with modes.use(modes.Mode()), pytest.raises(TypeError, match="no engine mode is active"):
        x + x
