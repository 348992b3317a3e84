"""What waits for the first image of a window: a timer alone may come before it on a busy machine."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget


class AfterFirstPaint(QObject):
    """Calls ``then`` once, after ``window`` was painted; after ``latest_ms`` where it is not (minimized)."""

    def __init__(self, window: QWidget, then: Callable[[], object], latest_ms: int) -> None:
        super().__init__(window)
        self._window, self._then = window, then
        self._latest = QTimer(self)
        self._latest.setSingleShot(True)
        self._latest.timeout.connect(self._begin)
        self._latest.start(latest_ms)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and watched is self._window:
            # The widgets inside are painted in the same go, and all of it is on the screen after that.
            self._window.removeEventFilter(self)
            self._latest.start(0)
        return False

    def _begin(self) -> None:
        self._window.removeEventFilter(self)
        self._then()
        self.deleteLater()
