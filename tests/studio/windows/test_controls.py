"""Buttons that follow actions."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QHBoxLayout, QSlider, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from studio.windows.controls import ActionButton, let_page_scroll


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


def turned(control: QWidget) -> bool:
    """Turn the wheel over a control; whether it was taken there."""
    event = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(control, event)
    return event.isAccepted()


@pytest.mark.parametrize("kind", [QComboBox, QSpinBox, QSlider])
def test_the_wheel_changes_only_the_control_that_has_the_keyboard(qtbot: QtBot, kind: type[QWidget]) -> None:
    control = kind()
    qtbot.addWidget(control)
    if isinstance(control, QComboBox):
        control.addItems(["a", "b", "c"])
    else:
        control.setProperty("value", 5)
    let_page_scroll(control)
    before = control.property("currentText"), control.property("value")
    assert not control.focusPolicy() & Qt.FocusPolicy.WheelFocus & ~Qt.FocusPolicy.StrongFocus
    assert not turned(control)
    assert (control.property("currentText"), control.property("value")) == before
    control.show()
    qtbot.waitExposed(control)
    control.activateWindow()
    control.setFocus()
    qtbot.waitUntil(control.hasFocus, timeout=5000)
    turned(control)
    assert (control.property("currentText"), control.property("value")) != before
