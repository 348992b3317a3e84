"""Buttons that follow actions."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from studio.windows.controls import ActionButton


def two_buttons(qtbot: QtBot) -> tuple[QWidget, ActionButton, ActionButton]:
    window = QWidget()
    qtbot.addWidget(window)
    first, second = (ActionButton(QAction(text, window)) for text in ("Until NaN", "Stop"))
    line = QHBoxLayout(window)
    line.addWidget(first)
    line.addWidget(second)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window, first, second


def test_a_button_that_is_disabled_while_its_job_runs_hands_the_keyboard_to_no_other(qtbot: QtBot) -> None:
    window, first, second = two_buttons(qtbot)
    pressed: list[str] = []
    first.clicked.connect(lambda: first._action.setEnabled(False))
    second.clicked.connect(lambda: pressed.append("stop"))
    first.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(first, Qt.Key.Key_Space)
    assert not first.isEnabled()
    assert window.focusWidget() is not second
    qtbot.keyClick(window, Qt.Key.Key_Space)
    assert pressed == []
    first._action.setEnabled(True)
    assert first.hasFocus()


def test_a_click_leaves_the_keyboard_where_it_is(qtbot: QtBot) -> None:
    _, first, second = two_buttons(qtbot)
    second.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    assert second.hasFocus()
