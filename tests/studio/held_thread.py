"""A thread of the session's files that works only when the test lets it."""

from __future__ import annotations

import threading

from studio.session.work.file_thread import FileThread


class HeldThread:
    """Holds a thread that has nothing to do, until ``finish``."""

    def __init__(self, thread: FileThread) -> None:
        self._thread, self._go = thread, threading.Event()
        thread.begin()
        thread.do(lambda: self._go.wait(20))

    def finish(self) -> None:
        """Let it do what waits, and take the results."""
        self._go.set()
        assert self._thread.wait(20)
