"""What waits for the first image of a window comes after it, and once."""

from __future__ import annotations

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from studio.windows.first_paint import AfterFirstPaint


class _Painted(QWidget):
    def __init__(self, outcome: list[str]) -> None:
        super().__init__()
        self._painted = outcome
        self.setMinimumSize(40, 40)

    def paintEvent(self, event: QPaintEvent) -> None:
        if "painted" not in self._painted:
            self._painted.append("painted")


def test_it_comes_after_all_widgets_are_painted_and_once(qtbot: QtBot) -> None:
    outcome: list[str] = []
    window = QWidget()
    qtbot.addWidget(window)
    QVBoxLayout(window).addWidget(_Painted(outcome))
    AfterFirstPaint(window, lambda: outcome.append("then"), 20_000)
    window.show()
    qtbot.waitUntil(lambda: "then" in outcome, timeout=20_000)
    assert outcome == ["painted", "then"]
    window.repaint()
    qtbot.wait(1)
    assert outcome == ["painted", "then"]


def test_a_window_that_is_never_painted_does_not_wait_for_ever(qtbot: QtBot) -> None:
    outcome: list[str] = []
    window = QWidget()
    qtbot.addWidget(window)
    AfterFirstPaint(window, lambda: outcome.append("then"), 1)
    qtbot.waitUntil(lambda: bool(outcome), timeout=20_000)
    assert outcome == ["then"]
