"""What waits for the first image of a window comes after it, and once."""

from __future__ import annotations

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from studio.windows.first_paint import AfterFirstPaint


class _Painted(QWidget):
    def __init__(self, told: list[str]) -> None:
        super().__init__()
        self._told = told
        self.setMinimumSize(40, 40)

    def paintEvent(self, event: QPaintEvent) -> None:
        if "painted" not in self._told:
            self._told.append("painted")


def test_it_comes_after_all_widgets_are_painted_and_once(qtbot: QtBot) -> None:
    told: list[str] = []
    window = QWidget()
    qtbot.addWidget(window)
    QVBoxLayout(window).addWidget(_Painted(told))
    AfterFirstPaint(window, lambda: told.append("then"), 20_000)
    window.show()
    qtbot.waitUntil(lambda: "then" in told, timeout=20_000)
    assert told == ["painted", "then"]
    window.repaint()
    qtbot.wait(1)
    assert told == ["painted", "then"]


def test_a_window_that_is_never_painted_does_not_wait_for_ever(qtbot: QtBot) -> None:
    told: list[str] = []
    window = QWidget()
    qtbot.addWidget(window)
    AfterFirstPaint(window, lambda: told.append("then"), 1)
    qtbot.waitUntil(lambda: bool(told), timeout=20_000)
    assert told == ["then"]
