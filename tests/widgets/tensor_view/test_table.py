"""The table of a tensor: it fetches what is in view, walks by keys, and lets a number be typed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from widgets.tensor_view import Block, TensorTable
from widgets.tensor_view.table import MOST_TILES, TILE_COLUMNS, TILE_ROWS

Asked = list[tuple[int, int, int, int]]


@pytest.fixture
def table(qtbot: QtBot) -> TensorTable:
    made = TensorTable()
    qtbot.addWidget(made)
    made.resize(400, 260)
    made.show()
    return made


def answer(table: TensorTable, number: Callable[[int, int], float]) -> Asked:
    asked: Asked = []

    def reply(row: int, rows: int, column: int, columns: int) -> None:
        asked.append((row, rows, column, columns))
        values = [[number(row + r, column + c) for c in range(columns)] for r in range(rows)]
        table.set_block(Block(row, column, np.array(values, np.float32)))

    table.block_wanted.connect(reply)
    return asked


def test_only_tiles_in_view_are_fetched(table: TensorTable, qtbot: QtBot) -> None:
    asked = answer(table, lambda row, column: row + column / 100)
    table.set_shape((10**9, 500))
    qtbot.waitUntil(lambda: bool(asked))
    assert asked == [(0, TILE_ROWS, 0, TILE_COLUMNS)]
    assert table.text(3, 25) == "3.25"
    assert table.text(5000, 0) == "\u2026"


def test_the_last_of_very_many_rows_can_be_reached(table: TensorTable, qtbot: QtBot) -> None:
    rows = 3 * 10**9
    asked = answer(table, lambda row, column: row % 1000)
    table.set_shape((rows, 2))
    table.go_to((rows - 1, 1))
    qtbot.waitUntil(lambda: table.text(rows - 1, 1) == "999")
    assert table.current() == (rows - 1, 1)
    assert table.viewport().rect().contains(table.cell_rect(rows - 1, 1))
    last = (rows - 1) // TILE_ROWS * TILE_ROWS
    assert asked[-1] == (last, rows - last, 0, 2)


def test_few_tiles_are_retained(table: TensorTable, qtbot: QtBot) -> None:
    table.set_shape((10**6, 1))
    for line in range(MOST_TILES + 5):
        table.set_block(Block(line * TILE_ROWS, 0, np.zeros((TILE_ROWS, 1), np.float32)))
    assert table.text(0, 0) == "\u2026"
    assert table.text(TILE_ROWS * MOST_TILES, 0) == "0"


def test_a_block_of_another_tensor_is_ignored(table: TensorTable) -> None:
    table.set_shape((4, 4))
    table.set_block(Block(0, 0, np.ones((3, 4), np.float32)))
    assert table.text(0, 0) == "\u2026"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32("nan"), "NaN"),
        (np.float32("-inf"), "\u2212\u221e"),
        (np.float16(0.5), "0.5"),
        (np.int64(-3), "\u22123"),
        (np.bool_(True), "1"),
        (np.complex64(1 - 2j), "1-2j"),
    ],
)
def test_numbers_of_each_kind_are_shown(table: TensorTable, value: np.generic, text: str) -> None:
    table.set_shape((1, 1))
    table.set_block(Block(0, 0, np.array([[value]])))
    assert table.text(0, 0) == text


def test_keys_move_the_current_cell(table: TensorTable, qtbot: QtBot) -> None:
    moved: list[tuple[int, ...]] = []
    table.current_changed.connect(moved.append)
    table.set_shape((2, 30, 4))
    keys = Qt.Key
    for key in (keys.Key_Right, keys.Key_Down, keys.Key_End, keys.Key_Right, keys.Key_Up, keys.Key_Up):
        qtbot.keyClick(table, key)
    assert moved == [(0, 0, 1), (0, 1, 1), (0, 1, 3), (0, 1, 3), (0, 0, 3), (0, 0, 3)]
    qtbot.keyClick(table, keys.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert table.current() == (1, 29, 3)
    assert table.accessibleDescription().startswith("[1, 29, 3]")


def test_a_click_chooses_a_cell_and_copy_takes_its_number(table: TensorTable, qtbot: QtBot) -> None:
    answer(table, lambda row, column: row * 10 + column)
    table.set_shape((5, 5))
    qtbot.waitUntil(lambda: table.text(2, 3) == "23")
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.cell_rect(2, 3).center())
    assert table.current() == (2, 3)
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "23"


def test_a_number_is_typed(table: TensorTable, qtbot: QtBot) -> None:
    entered: list[tuple[tuple[int, ...], str]] = []
    table.cell_entered.connect(lambda index, text: entered.append((index, text)))
    answer(table, lambda row, column: 0.1)
    table.set_shape((5, 5), editable=True)
    qtbot.waitUntil(lambda: table.text(0, 0) == "0.1")
    qtbot.keyClick(table, Qt.Key.Key_Down)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    editor = table.editor()
    assert editor.isVisible()
    assert float(editor.text()) == float(np.float32(0.1))
    editor.setText("nan")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert entered == [((1, 0), "nan")]
    assert not editor.isVisible()
    table.edit()
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor.isVisible()
    assert len(entered) == 1


def test_a_table_to_read_has_no_editor(table: TensorTable, qtbot: QtBot) -> None:
    answer(table, lambda row, column: 1)
    table.set_shape((5, 5))
    qtbot.waitUntil(lambda: table.text(0, 0) == "1")
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert not table.editor().isVisible()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), ()])
def test_odd_shapes_paint(table: TensorTable, shape: tuple[int, ...]) -> None:
    table.set_shape(shape)
    assert not table.grab().isNull()
    assert table.shape() == shape
