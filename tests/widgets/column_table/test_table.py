"""The table of columns: what is whole in it, and the hint that there are columns out of sight."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets.column_table import Cell, ColumnTable, TableColumn
from widgets.column_table.further_columns import FurtherColumns

KEYS = [str(number) for number in range(40)]


@pytest.fixture
def table(qtbot: QtBot) -> ColumnTable:
    made = ColumnTable(lambda key, column: Cell(f"{column} {key}"))
    qtbot.addWidget(made)
    made.set_columns([TableColumn(name, name.title(), width=120) for name in ("name", "state", "data")])
    made.set_keys(KEYS)
    made.resize(280, 240)
    made.show()
    QApplication.processEvents()
    return made


@pytest.mark.parametrize("key", ["0", "11", "23", "39"])
def test_the_first_row_is_whole_after_another_one_was_selected(table: ColumnTable, key: str) -> None:
    table.mark([key], key)
    table.show_row(key)
    QApplication.processEvents()
    first = table.rowAt(0)
    assert table.rowViewportPosition(first) == 0
    assert key in table.keys_in_sight()
    row = KEYS.index(key)
    assert table.rowViewportPosition(row) + table.rowHeight(row) <= table.viewport().height()


def test_a_shade_says_that_columns_are_out_of_sight(table: ColumnTable) -> None:
    shade = table.findChild(FurtherColumns)
    assert isinstance(shade, FurtherColumns)
    view = table.viewport()
    assert shade.isVisible()
    assert shade.geometry().right() == view.geometry().right()
    assert shade.geometry().contains(table.header.geometry().center().x() + view.width() // 2 - 2, 2)
    table.horizontalScrollBar().setValue(table.horizontalScrollBar().maximum())
    assert not shade.isVisible()
    table.horizontalScrollBar().setValue(0)
    table.resize(500, 240)
    QApplication.processEvents()
    assert not shade.isVisible()
