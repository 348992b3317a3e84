"""`python -m widgets.diagram.demo`: legends of a column of numbers, of powers of ten, and of categories."""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from widgets import theme
from widgets.cards import Card
from widgets.demo import run_demo
from widgets.diagram import ColorScale, Column, paint_legend
from widgets.diagram.legend import LEGEND_HIGH


class Legends(QWidget):
    """A legend in each line."""

    def __init__(self, columns: list[Column]) -> None:
        super().__init__()
        self._columns = columns
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        for line, column in enumerate(self._columns):
            area = QRectF(0, line * 1.6 * LEGEND_HIGH, self.width(), LEGEND_HIGH)
            paint_legend(painter, area, ColorScale(column))


def example_columns(rows: int = 200, seed: int = 0) -> list[Column]:
    """Settings and results of invented runs: numbers, powers of ten, categories; some values are missing."""
    random = np.random.default_rng(seed)
    rate = 10.0 ** random.uniform(-4, -1, rows)
    width = random.choice([16, 32, 64, 128], rows)
    dropout = random.uniform(0, 0.5, rows).round(2)
    optimizer = random.choice(["Adam", "Momentum", "SGD"], rows)
    accuracy = 0.97 - 0.04 * np.abs(np.log10(rate) + 2.5) ** 1.5 + 0.01 * np.log2(width / 16)
    accuracy += random.normal(0, 0.01, rows) - 0.03 * (optimizer == "SGD")
    accuracy[random.random(rows) < 0.04] = np.nan
    time = 0.2 * width**0.7 * random.uniform(0.9, 1.1, rows)
    return [
        Column.of("learning_rate", rate.tolist(), "Learning rate"),
        Column.of("width", width.tolist(), "Width"),
        Column.of("dropout", dropout.tolist(), "Dropout"),
        Column.of("optimizer", optimizer.tolist(), "Optimizer"),
        Column.of("time", time.tolist(), "Milliseconds per sample", "less"),
        Column.of("accuracy", accuracy.tolist(), "Accuracy", "more"),
    ]


def make() -> QWidget:
    """The legends of the example columns."""
    card = Card("Legends")
    card.body.addWidget(Legends(example_columns()))
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Legends", (520, 260)))
