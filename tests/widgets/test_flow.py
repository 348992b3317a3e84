"""A layout that wraps: lines, and where items of different heights are in one."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from widgets.flow import FlowLayout


def test_items_of_a_line_have_one_middle(qtbot: QtBot) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    flow = FlowLayout(holder, spacing=10)
    sizes = [(40, 20), (40, 28), (40, 24), (60, 16)]
    for wide, high in sizes:
        item = QWidget()
        item.setFixedSize(wide, high)
        flow.addWidget(item)
    holder.resize(140, 200)
    flow.activate()
    found = [flow.itemAt(place).geometry() for place in range(flow.count())]
    assert found == [
        QRect(0, 4, 40, 20),
        QRect(50, 0, 40, 28),
        QRect(100, 2, 40, 24),
        QRect(0, 38, 60, 16),
    ]
    assert flow.heightForWidth(140) == 54
