"""Layouts have one margin on all sides, and the studio's spacing unless they are given another."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QMargins
from PySide6.QtWidgets import QBoxLayout, QWidget

from widgets import theme
from widgets.layouts import horizontal, vertical

DIRECTION = QBoxLayout.Direction


@pytest.mark.parametrize(
    ("build", "direction"), [(vertical, DIRECTION.TopToBottom), (horizontal, DIRECTION.LeftToRight)]
)
def test_a_layout_has_its_margin_and_spacing(qtbot: Any, build: Any, direction: QBoxLayout.Direction) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    layout = build(widget, 3)
    assert widget.layout() is layout
    assert layout.direction() == direction
    assert (layout.contentsMargins(), layout.spacing()) == (QMargins(3, 3, 3, 3), theme.SPACE_S)
    assert build(None, 0, 7).spacing() == 7
    plain = {vertical: QBoxLayout(DIRECTION.TopToBottom), horizontal: QBoxLayout(DIRECTION.LeftToRight)}
    assert build(None, 0, None).spacing() == plain[build].spacing()
