"""Channels of a tensor as images: where they are, their colours, and the value under the pointer."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.tensor_view import ImageGrid, Planes


def shown(qtbot: QtBot, planes: Planes, width: int = 400, height: int = 300) -> ImageGrid:
    grid = ImageGrid()
    qtbot.addWidget(grid)
    grid.resize(width, height)
    grid.set_planes(planes)
    grid.show()
    return grid


def test_values_that_are_not_finite_have_their_own_colours(qtbot: QtBot) -> None:
    values = np.zeros((1, 3, 3), np.float32)
    values[0, 0, 0], values[0, 1, 1], values[0, 2, 2] = np.nan, np.inf, 1
    grid = shown(qtbot, Planes(values, 0, 1, low=0.0, high=1.0))
    image = grid.viewport().grab().toImage()
    side = (300 - 24) / 3

    def color(row: int, column: int) -> QColor:
        return image.pixelColor(round((column + 0.5) * side), round((row + 0.5) * side))

    tokens = theme.current()
    assert color(0, 0) == QColor(tokens.bad)
    assert color(1, 1) == QColor(tokens.warn)
    assert color(2, 2) == QColor(tokens.ink)
    assert color(0, 1) == QColor(tokens.canvas)


def test_negative_values_differ_from_positive_ones_of_the_same_size(qtbot: QtBot) -> None:
    grid = shown(qtbot, Planes(np.array([[[-1, 1]]], np.float32), 0, 1, low=-1.0, high=1.0))
    image = grid.viewport().grab().toImage()
    left, right = image.pixelColor(100, 40), image.pixelColor(300, 40)
    assert left.blue() > left.red()
    assert right.red() > right.blue()


def test_the_value_under_the_pointer_is_named(qtbot: QtBot) -> None:
    values = np.arange(4 * 8 * 8, dtype=np.float32).reshape(4, 8, 8)
    grid = shown(qtbot, Planes(values, 4, 16, low=0.0, high=255.0, step=2))
    tiles = grid._tiles()
    box = grid._box(tiles, 2)
    at = QPointF(box.left() + box.width() * 3.5 / 8, box.top() + box.height() * 1.5 / 8)
    assert grid.value_at(at) == "channel 6, row 2, column 6: 139"
    assert grid.value_at(QPointF(399, 299)) == ""


def test_many_channels_scroll_and_few_fit(qtbot: QtBot) -> None:
    few = shown(qtbot, Planes(np.zeros((4, 8, 8), np.float32), 0, 4, low=0.0, high=0.0))
    assert few.verticalScrollBar().maximum() == 0
    many = shown(qtbot, Planes(np.zeros((200, 28, 28), np.float32), 0, 200, low=0.0, high=0.0))
    assert many.verticalScrollBar().maximum() > 0
    boxes = [many._box(many._tiles(), number) for number in range(200)]
    assert not any(a.intersects(b) for n, a in enumerate(boxes) for b in boxes[n + 1 : n + 30])


def test_long_rows_and_nothing_paint(qtbot: QtBot) -> None:
    for values in (np.zeros((1, 1, 512)), np.zeros((1, 512, 1)), np.zeros((0, 0, 0)), np.zeros((3, 0, 4))):
        grid = shown(qtbot, Planes(values.astype(np.float32), 0, len(values)))
        assert not grid.grab().isNull()


def test_the_grid_names_itself(qtbot: QtBot) -> None:
    grid = shown(qtbot, Planes(np.zeros((2, 5, 7), np.float32), 0, 6))
    assert grid.accessibleName() == "2 of 6 channels as images, 7 by 5 pixels"
