"""What shows something in a hidden widget waits until the widget appears."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QLabel, QStackedWidget

from studio.controllers.when_visible import WhenVisible


def test_a_hidden_page_is_filled_when_it_appears(qtbot: Any) -> None:
    pages, first, second = QStackedWidget(), QLabel(), QLabel()
    qtbot.addWidget(pages)
    pages.addWidget(first)
    pages.addWidget(second)
    pages.show()
    when, shown = WhenVisible(second), list[str]()
    state = ["before"]

    def show_state() -> None:
        shown.append(state[0])

    when.call(show_state)
    when.call(show_state)
    state[0] = "now"
    assert shown == []
    assert when.waits(show_state)
    pages.setCurrentWidget(second)
    assert shown == ["now"]
    assert not when.waits(show_state)
    when.call(show_state)
    assert shown == ["now", "now"]
    pages.setCurrentWidget(first)
    when.call(show_state)
    when.forget()
    pages.setCurrentWidget(second)
    assert shown == ["now", "now"]
