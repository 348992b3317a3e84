"""A timer that calls something once, some time after it was started."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def delayed(parent: QObject, milliseconds: int, action: Callable[[], object]) -> QTimer:
    """A timer of ``parent``: each ``start`` calls ``action`` once, ``milliseconds`` after the last start."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(action)
    return timer
