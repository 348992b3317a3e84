"""Show something in a page only when it can be seen: what is hidden costs the window's thread nothing."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget


class WhenVisible(QObject):
    """Calls functions that show something in a widget: at once while it is visible, else when it appears.

    A function that waits is called once, in the order of the first requests; so it must show the state of
    that moment, and take no arguments.
    """

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._waiting: dict[Callable[[], object], None] = {}
        widget.installEventFilter(self)

    def call(self, show: Callable[[], object]) -> None:
        """Call ``show`` now or when the widget appears."""
        if self._widget.isVisible():
            show()
        else:
            self._waiting[show] = None

    def waits(self, show: Callable[[], object]) -> bool:
        """Whether ``show`` will be called when the widget appears."""
        return show in self._waiting

    def forget(self) -> None:
        """Call nothing that waits: its controller has ended."""
        self._waiting.clear()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Catch up when the widget appears."""
        if event.type() == QEvent.Type.Show and self._waiting:
            waiting, self._waiting = self._waiting, {}
            for show in waiting:
                show()
        return False
