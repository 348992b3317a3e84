"""An axis of a chart: its title, round numbers and grid lines, linear or logarithmic."""

from __future__ import annotations

import math
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPen

from resources import quantities
from widgets import theme
from widgets.plot.ticks import FEWEST, log_ticks, nice_ticks

MOST = 8  # numbers of a high axis, about


class Axis(pg.AxisItem):
    """An axis that is only its grid lines and numbers."""

    def __init__(self, orientation: str, spacing: int, grid: bool) -> None:
        super().__init__(orientation, showValues=True)
        self._spacing, self._lines, self.log = spacing, grid, False
        self.percent = False  # values are shares, shown as percentages
        self.enableAutoSIPrefix(False)
        self.setGrid(255)
        self.setStyle(tickLength=0, tickTextOffset=6, hideOverlappingLabels=True)

    def set_title(self, words: str) -> None:
        """Name the quantity next to the axis; an empty text takes no room."""
        shown = str(self.labelText or "")
        if words != shown:
            self.setLabel(words or None)

    def boundingRect(self) -> QRectF:
        # Room for the halves of the numbers at both ends, which pyqtgraph would cut off.
        return QRectF(super().boundingRect().adjusted(-14, -8, 14, 8))

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        most = min(max(FEWEST, int(size / self._spacing)), MOST)
        if self.log:
            return [(1.0, log_ticks(low, high, most))]
        step, values = nice_ticks(low, high, most)
        return [(step, values)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if self.log:
            return _distinct([10.0**value for value in values])
        if self.percent:
            shares = self._with_equal_decimals([100 * value for value in values], 100 * spacing)
            return [f"{text}{quantities.THIN}%" for text in shares]
        return self._with_equal_decimals(values, spacing)

    @staticmethod
    def _with_equal_decimals(values: list[float], spacing: float) -> list[str]:
        # As many decimals as the step has, so that all numbers of an axis have the same form.
        decimals = max(0, math.ceil(-math.log10(spacing) - 1e-9)) if spacing else 0
        if spacing and abs(spacing * 10**decimals - round(spacing * 10**decimals)) > 1e-6:
            decimals += 1
        largest = max((abs(value) for value in values), default=0)
        if decimals > 4 or largest >= 1e7:
            return [theme.format_number(float(value)) for value in values]
        return [
            f"{value:,.{decimals}f}".replace(",", quantities.THIN).replace("-", quantities.MINUS)
            for value in values
        ]

    def generateDrawSpecs(self, painter: pg.QtGui.QPainter) -> tuple[Any, Any, Any] | None:
        specs = super().generateDrawSpecs(painter)
        if specs is None:
            return None
        axis, ticks, texts = specs
        line = QPen(QColor(theme.current().line))
        shown = [(line, a, b) for _, a, b in ticks] if self._lines else []
        return (QPen(Qt.PenStyle.NoPen), axis[1], axis[2]), shown, texts


def _distinct(values: list[float]) -> list[str]:
    """With as many digits as tell neighbours apart."""
    for digits in range(3, 8):
        words = [theme.format_number(value, digits=digits) for value in values]
        if len(set(words)) == len(words):
            break
    return words
