"""`python -m widgets.distribution.demo`: the weights of a layer, and how a number of four layers went."""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtWidgets import QTableWidget, QTableWidgetItem, QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.distribution import Histogram, SparklineDelegate
from widgets.distribution.sparkline import VALUES_ROLE


def make() -> QWidget:
    """A histogram above a table of small lines."""
    random = np.random.default_rng(0)
    card, histogram, table = Card("Layers"), Histogram(), QTableWidget(4, 2)
    histogram.set_title("Weights")
    counts, edges = np.histogram(random.normal(size=5000), bins=32)
    histogram.set_counts(float(edges[0]), float(edges[-1]), counts.tolist(), bad=2)
    table.setAccessibleName("Layers")
    table.setHorizontalHeaderLabels(["Layer", "Update ratio"])
    table.setItemDelegateForColumn(1, SparklineDelegate(table))
    for row in range(4):
        table.setItem(row, 0, QTableWidgetItem(f"conv{row + 1}"))
        item = QTableWidgetItem()
        item.setData(VALUES_ROLE, (1e-3 * random.gamma(2, 0.5, 30)).tolist())
        table.setItem(row, 1, item)
    card.body.addWidget(histogram)
    card.body.addWidget(table)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Distribution", (420, 420)))
