"""Starts a thread where there may be no memory for it."""

from __future__ import annotations

import threading

SECONDS = 5.0


class _Begun(threading.Event):
    """The event that ``Thread.start`` waits for, with a limit."""

    def wait(self, timeout: float | None = None) -> bool:
        return super().wait(SECONDS if timeout is None else timeout)


def start(thread: threading.Thread) -> None:
    """Start ``thread``.

    ``threading.Thread.start`` waits without end for a thread whose first call finds no memory.

    Raises:
        MemoryError: it has not begun after SECONDS.
        RuntimeError: the system gives no thread.
    """
    thread._started = _Begun()  # type: ignore[attr-defined]
    thread.start()
    if thread.ident is None:
        raise MemoryError(f"the thread {thread.name!r} does not begin")
