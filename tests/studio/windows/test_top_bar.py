"""The bar at the top: what a second click does where the first one has changed the buttons."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from studio.windows.top_bar import PageActions


@pytest.fixture
def bar(qtbot: Any) -> tuple[PageActions, list[str]]:
    """Start, which another button takes the place of, and what was done."""
    made, done = PageActions(), list[str]()
    for name in ("start", "add_to_queue"):
        action = QAction(name, made)
        action.setObjectName(name)
        action.triggered.connect(lambda _=False, name=name: done.append(name))
        made.add_action(action)
    made.show_only("start")
    made.buttons["start"].clicked.connect(lambda: made.show_only("add_to_queue"))
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    return made, done


def _click(bar: PageActions, name: str, twice: bool = False) -> None:
    """Clicks as the system sends them: to the window, which looks for the widget below the pointer."""
    button = bar.buttons[name]
    place = button.mapTo(bar, QPoint(button.width() // 2, button.height() // 2))
    send = QTest.mouseDClick if twice else QTest.mouseClick
    send(bar.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)


def test_the_second_click_of_a_double_click_hits_no_button_that_came_in_between(bar: Any) -> None:
    made, done = bar
    _click(made, "start", twice=True)
    assert done == ["start"]
    assert made.buttons["add_to_queue"].isVisible()
    _click(made, "add_to_queue")
    assert done == ["start", "add_to_queue"]


def test_a_double_click_on_one_button_is_two_clicks(bar: Any) -> None:
    made, done = bar
    made.show_only("add_to_queue")
    _click(made, "add_to_queue", twice=True)
    assert done == ["add_to_queue", "add_to_queue"]


@pytest.mark.styled
def test_a_bar_without_room_for_all_tabs_has_that_of_the_page_and_its_buttons(stage: Any) -> None:
    stage.studio.frame.show_page("debug")
    top = stage.window.top
    bar = stage.studio._bars["debug"]
    bar.show_only(*bar.buttons)
    for width, all_tabs in ((1280, True), (640, False), (1280, True)):
        stage.window.resize(width, 650)
        QApplication.processEvents()
        shown = [page for page in ("data", "debug", "predict") if top.tab(page).isVisible()]
        assert shown == (["data", "debug", "predict"] if all_tabs else ["debug"])
        for button in bar.buttons.values():
            assert button.width() >= button.sizeHint().width()
            assert button.mapTo(top, button.rect().topRight()).x() <= top.width()
