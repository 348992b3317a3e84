"""CallOnce: one call for all requests of a block, at once outside of it."""

from __future__ import annotations

import pytest

from studio.session.work.call_once import CallOnce


def test_requests_of_a_block_are_done_once_at_its_end_and_others_at_once() -> None:
    once, calls = CallOnce(), list[str]()

    def show() -> None:
        calls.append("show")
        once.call(tail)

    def tail() -> None:
        calls.append("tail")

    with once.block():
        with once.block():
            once.call(show)
        once.call(show)
        assert calls == []
    assert calls == ["show", "tail"]
    once.call(tail)
    assert calls == ["show", "tail", "tail"]


def test_an_error_in_a_block_leaves_nothing_unshown() -> None:
    once, calls = CallOnce(), list[int]()

    def follow() -> None:
        with once.block():
            once.call(lambda: calls.append(1))
            raise ValueError("event")

    with pytest.raises(ValueError, match="event"):
        follow()
    once.call(lambda: calls.append(2))
    assert calls == [1, 2]
