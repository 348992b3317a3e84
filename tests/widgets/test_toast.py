"""The toast: where it stands, how large it gets, how long it stays."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from widgets.toast import LONGEST_MS, MOST_LINES, NOTICE_MS, Toast

LONG = "model.pdmodel: the file is damaged: its hash differs; export the model again " * 40


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    """A window with a part for pages above a panel."""
    made, page, panel = QWidget(), QWidget(), QWidget()
    layout = QVBoxLayout(made)
    layout.addWidget(page, 1)
    layout.addWidget(panel)
    page.setObjectName("page")
    panel.setFixedHeight(200)
    made.resize(800, 600)
    qtbot.addWidget(made)
    made.show()
    return made


def part(window: QWidget, name: str) -> QWidget:
    found = window.findChild(QWidget, name)
    assert isinstance(found, QWidget)
    return found


def test_it_stays_within_its_part_however_long_the_text_is(window: QWidget) -> None:
    page = part(window, "page")
    toast = Toast(window, page)
    toast.show_message("Saved", "ok")
    small = toast.height()
    toast.show_message(LONG, "bad", details=True)
    QApplication.processEvents()
    assert page.geometry().contains(toast.geometry())
    assert toast.height() <= small + (MOST_LINES - 1) * (toast.fontMetrics().height() + 4)
    shown = toast._text.text()
    assert shown.endswith("\u2026")
    assert shown.count("\n") == MOST_LINES - 1
    assert toast.text() == toast.accessibleName() == toast._text.toolTip() == LONG
    window.resize(420, 400)
    QApplication.processEvents()
    assert page.geometry().contains(toast.geometry())


def test_a_click_on_it_frees_what_is_below(window: QWidget, qtbot: QtBot) -> None:
    toast = Toast(window)
    for part_of_it in (toast, toast._text, toast._image):
        toast.show_message("Imported flats.csv: a table of 400 rows", "ok")
        qtbot.mouseClick(part_of_it, Qt.MouseButton.LeftButton)
        assert toast.isHidden()


def test_the_first_message_is_shown_whole(window: QWidget) -> None:
    toast = Toast(window, part(window, "page"))
    toast.show_message(LONG[:200], "bad", details=True)
    assert toast._text.height() >= toast._text.sizeHint().height()
    assert toast.height() == toast.sizeHint().height()


def test_details_lead_on(window: QWidget, qtbot: QtBot) -> None:
    toast = Toast(window)
    toast.show_message("failed", "bad", details=True)
    with qtbot.waitSignal(toast.details_requested):
        toast.details.click()
    assert toast.isHidden()


@pytest.mark.parametrize("level", ["info", "ok", "warn", "bad"])
def test_it_leaves_by_itself_later_where_there_is_more_to_read(window: QWidget, level: str) -> None:
    toast = Toast(window)
    toast.show_message("failed", level)
    short = toast._timer.interval()
    assert toast._timer.isActive()
    toast.show_message("x" * 100, level)
    assert NOTICE_MS < short < toast._timer.interval() < LONGEST_MS
    toast.show_message(LONG, level)
    assert toast._timer.interval() == LONGEST_MS
    toast._timer.timeout.emit()
    assert toast.isHidden()


def test_the_pointer_or_the_focus_keeps_it(window: QWidget, qtbot: QtBot) -> None:
    toast = Toast(window)
    toast.show_message("failed", "bad")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    toast.close_button.setFocus()
    toast._timer.timeout.emit()
    assert toast.isVisible()
    toast.close_button.clearFocus()
    at = QPointF(5, 5)
    QApplication.sendEvent(toast, QEnterEvent(at, at, at))
    assert toast.underMouse()
    toast._timer.timeout.emit()
    assert toast.isVisible()
    assert toast._timer.isActive()
