"""A thread that does not begin raises; others run as always."""

from __future__ import annotations

import threading

import pytest

from resources.threads import start


class NoMemory(threading.Thread):
    """Its first call fails, before it can say that it has begun."""

    def _bootstrap(self) -> None:
        threading._limbo.pop(self)  # type: ignore[attr-defined]


def test_a_thread_that_does_not_begin_is_a_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.threads.SECONDS", 0.02)
    with pytest.raises(MemoryError, match="'reader' does not begin"):
        start(NoMemory(name="reader"))


def test_a_thread_runs_and_is_joined() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.set)
    start(thread)
    thread.join()
    assert done.is_set()
    assert not thread.is_alive()
