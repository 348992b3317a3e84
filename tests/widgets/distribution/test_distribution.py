"""The histogram and the small lines of a table."""

from __future__ import annotations

import math

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QTableWidget, QTableWidgetItem
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.distribution import Histogram, SparklineDelegate
from widgets.distribution.sparkline import VALUES_ROLE


def colored(widget: Histogram | QTableWidget, color: str) -> list[tuple[int, int]]:
    image = widget.grab().toImage()
    return [
        (x, y)
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y) == QColor(color)
    ]


def test_bars_are_as_high_as_their_counts(qtbot: QtBot) -> None:
    histogram = Histogram()
    qtbot.addWidget(histogram)
    histogram.resize(200, 138)
    histogram.set_title("Weights")
    histogram.set_counts(-1.0, 1.0, [10, 0, 5, 20])
    inked = colored(histogram, theme.run_color(0))
    heights = [sum(1 for x, _ in inked if x == column) for column in (20, 70, 120, 170)]
    assert heights == [50, 0, 25, 100]
    assert histogram.accessibleName() == "Weights: \N{MINUS SIGN}1 to 1"
    assert histogram.words_at(170) == "0.5 to 1: 20"


def test_values_that_are_not_finite_are_counted(qtbot: QtBot) -> None:
    histogram = Histogram()
    qtbot.addWidget(histogram)
    histogram.set_counts(math.nan, math.nan, [], bad=3)
    assert histogram.accessibleName().endswith("nothing yet")
    assert histogram.words_at(10) == ""
    histogram.set_counts(0.0, 1.0, [4], bad=3)
    assert "3 not finite" in histogram.accessibleName()
    with pytest.raises(ValueError, match="negative: -1"):
        histogram.set_counts(0.0, 1.0, [-1])


@pytest.mark.parametrize(("values", "drawn"), [([1e-4, 1e-3, 1e-2], True), ([0.0, math.nan], False)])
def test_a_cell_shows_how_a_number_went(qtbot: QtBot, values: list[float], drawn: bool) -> None:
    table = QTableWidget(1, 1)
    qtbot.addWidget(table)
    table.setItemDelegateForColumn(0, SparklineDelegate(table))
    item = QTableWidgetItem()
    item.setData(VALUES_ROLE, values)
    table.setItem(0, 0, item)
    image = table.viewport().grab().toImage()
    ink = {
        (x, y)
        for x in range(90)
        for y in range(image.height())
        if image.pixelColor(x, y).blue() > image.pixelColor(x, y).red() + 40
    }
    assert bool(ink) == drawn
    if drawn:  # it rises to the right
        assert min(y for x, y in ink if x > 60) < min(y for x, y in ink if x < 30)
