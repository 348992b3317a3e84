"""Keyboard and screen reader: names and roles as Qt reports them, and a way to each control with Tab."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from widgets.digit_pad import DigitPad

PAGES = ("data", "code", "train", "runs", "graph", "export", "debug", "predict")
_NO_ROLE = (QAccessible.Role.NoRole, QAccessible.Role.Client)
# Qt knows no role of a canvas for a widget written in Python; its name and description say what it is.
_CANVAS = (DigitPad,)


def controls(window: QWidget) -> list[QWidget]:
    """What can get the focus by the keyboard and is shown."""
    return [widget for widget in window.findChildren(QWidget) if _is_control(widget, window)]


def _is_control(widget: QWidget, window: QWidget) -> bool:
    # A page's scroll area is only the frame of what it shows; the inside of a list or text is not a control.
    frame = isinstance(widget, QScrollArea) or widget.objectName() == "qt_scrollarea_viewport"
    by_keys = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return by_keys and not frame and widget.isVisibleTo(window) and widget.isEnabled()


def path_of(widget: QWidget) -> str:
    names = []
    found: Any = widget
    while found is not None:
        names.append(
            f"{type(found).__name__}({found.objectName()})" if found.objectName() else type(found).__name__
        )
        found = found.parent()
    return " < ".join(names[:5])


@pytest.mark.parametrize("page", PAGES)
def test_every_control_has_a_name_and_a_role(shared_stage: Any, page: str) -> None:
    shared_stage.studio.actions.trigger(f"page_{page}")
    QApplication.processEvents()
    found = controls(shared_stage.window)
    assert len(found) > 5
    nameless = []
    for widget in found:
        outcome = QAccessible.queryAccessibleInterface(widget)
        if not outcome.text(QAccessible.Text.Name).strip() or (
            outcome.role() in _NO_ROLE and not isinstance(widget, _CANVAS)
        ):
            nameless.append(f"{path_of(widget)}: {outcome.role()}")
    assert nameless == []


@pytest.mark.parametrize("page", PAGES)
def test_tab_reaches_every_control(shared_stage: Any, page: str) -> None:
    shared_stage.studio.actions.trigger(f"page_{page}")
    QApplication.processEvents()
    wanted = set(controls(shared_stage.window))
    start = next(iter(wanted))
    reached, widget = {start}, start.nextInFocusChain()
    while widget is not start:
        reached.add(widget)
        widget = widget.nextInFocusChain()
    assert {path_of(widget) for widget in wanted - reached} == set()
