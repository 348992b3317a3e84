"""Switches of recording: nesting, decorators, generators, threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import engine


def _records() -> bool:
    x = engine.ones([1])
    x.stop_gradient = False
    return not (x * x).stop_gradient


def test_no_grad_nests_with_enable_grad() -> None:
    assert _records()
    with engine.no_grad():
        assert not _records()
        assert not engine.is_grad_enabled()
        with engine.enable_grad():
            assert _records()
            with engine.no_grad():
                assert not _records()
            assert _records()
        assert not _records()
    assert _records()
    assert engine.is_grad_enabled()


def test_one_switch_may_be_entered_again() -> None:
    switch = engine.no_grad()
    with switch:
        with switch:
            assert not _records()
        assert not _records()
    assert _records()


def test_recording_is_on_again_after_an_error() -> None:
    with pytest.raises(KeyError), engine.no_grad():
        raise KeyError
    assert _records()


@pytest.mark.parametrize("decorate", [engine.no_grad, engine.no_grad()])
def test_decorator(decorate: Any) -> None:
    @decorate
    def function(deep: int) -> list[bool]:
        """Doc."""
        return [_records(), *(function(deep - 1) if deep else [])]

    assert function(2) == [False, False, False]
    assert function.__doc__ == "Doc."
    assert _records()


def test_decorated_generators_record_in_the_callers_code() -> None:
    @engine.no_grad()
    def generate() -> Iterator[bool]:
        yield _records()
        yield _records()

    seen = []
    for inside in generate():
        seen += [inside, _records()]
    assert seen == [False, True, False, True]


def test_set_grad_enabled() -> None:
    with engine.set_grad_enabled(False):
        assert not _records()
        with engine.set_grad_enabled(True):
            assert _records()
    assert _records()
    engine.set_grad_enabled(False)
    try:
        assert not _records()
    finally:
        engine.set_grad_enabled(True)
    assert _records()


@pytest.mark.parametrize("grad", [True, False])
def test_static_mode_begins_after_recording_was_switched_by_a_call(grad: bool) -> None:
    before = engine.is_grad_enabled()
    engine.set_grad_enabled(grad)
    engine.enable_static()
    try:
        assert not engine.in_dynamic_mode()
    finally:
        engine.disable_static()
    assert engine.in_dynamic_mode()
    assert before is True
    assert _records()


def test_threads_have_their_own_switch() -> None:
    inside: list[bool] = []
    with engine.no_grad():
        thread = threading.Thread(target=lambda: inside.append(_records()))
        thread.start()
        thread.join()
        assert not _records()
    assert inside == [True]


def test_no_grad_in_a_thread_leaves_others_alone() -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with engine.no_grad():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    assert entered.wait(10)
    assert _records()
    leave.set()
    thread.join()


def test_results_under_no_grad_keep_no_graph() -> None:
    x = engine.ones([2])
    x.stop_gradient = False
    with engine.no_grad():
        y = x * 2.0
    assert y.stop_gradient
    assert y.is_leaf
    z = (x * y).sum()
    z.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_static_mode_records_nothing() -> None:
    engine.enable_static()
    try:
        assert not engine.is_grad_enabled()
    finally:
        engine.disable_static()
    assert engine.is_grad_enabled()
