"""ClientThread: what the clients of a model's child process share: its limits, its thread and its end."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from studio.session.work.task import RequestTask

if TYPE_CHECKING:
    from engine.core.models.limits import ModelLimits
    from engine.inference.process import ModelProcess


class ClientThread:
    """A child process, the thread that waits for its replies, and its task; a subclass creates all."""

    _process: ModelProcess
    _thread: threading.Thread
    _condition: threading.Condition
    _task: RequestTask
    _closed: bool

    @property
    def limits(self) -> ModelLimits:
        return self._process.limits

    @property
    def pid(self) -> int:
        """The id of the model's process; 0 where there is none now."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Kill the process without waiting for it; no further reply is delivered."""
        with self._condition:
            self._closed = True
            self._condition.notify()
        self._process.end()
        self._task.end("cancelled")

    def join(self, timeout: float) -> None:
        """Wait until everything has ended, after ``close()``."""
        self._thread.join(timeout)
