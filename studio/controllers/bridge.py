"""The one place where events of other processes and threads enter Qt's loop."""

from __future__ import annotations

import signal
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QElapsedTimer, QObject, QSocketNotifier, QTimer

from studio.session.session import Session

PERIOD_MS = 50
# Python writes the numbers of signals next to these.
_EVENT, _ANSWER = b"\0", b"\xff"


class Bridge(QObject):
    """Pumps the session when a worker has left something, at once after a pause, else 20 times a second.

    While a request to the training has no answer yet, each time: the user waits for it.

    What a model answers is shown at once: a pen is drawing meanwhile. The threads of workers and models only
    write a byte into a socket pair; everything else happens in Qt's thread.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._calls: deque[Callable[[], Any]] = deque()
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)
        self._since = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._pump)
        session.wake = self.wake
        session.predict_models.hurry = lambda: self._send(_ANSWER)
        session.checkpoints.answers.hurry = lambda: self._send(_ANSWER)

    def wake(self) -> None:
        """There is something to take. May be called from any thread."""
        self._send(_EVENT)

    def _send(self, kind: bytes) -> None:
        # A full buffer means that a wake-up is waiting already.
        with suppress(BlockingIOError, OSError):
            self._writer.send(kind)

    def call(self, function: Callable[[], Any]) -> None:
        """Call ``function`` in Qt's thread soon. May be called from any thread."""
        self._calls.append(function)
        self.wake()

    def watch_signals(self) -> Callable[[], None]:
        """Let Python see signals such as Ctrl-C while Qt waits; returns what undoes it."""
        before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        return lambda: (signal.set_wakeup_fd(before), None)[1]

    def close(self) -> None:
        """Take nothing any more."""
        self._session.wake = self._session.predict_models.hurry = None
        self._session.checkpoints.answers.hurry = None
        self._notifier.setEnabled(False)
        self._timer.stop()
        self._reader.close()
        self._writer.close()

    def _woken(self) -> None:
        kinds = b""
        with suppress(BlockingIOError, OSError):
            while found := self._reader.recv(4096):
                kinds += found
        if _ANSWER in kinds:
            self._session.predict_models.take()
            self._session.checkpoints.take()
        if self._timer.isActive() or not kinds.strip(_ANSWER):
            return
        waited = self._since.elapsed() if self._since.isValid() else PERIOD_MS
        period = 0 if self._session.train.state in ("pausing", "stopping") else PERIOD_MS
        self._timer.start(max(0, period - waited))

    def _pump(self) -> None:
        self._since.start()
        while self._calls:
            self._calls.popleft()()
        self._session.pump()
