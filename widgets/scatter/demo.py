"""`python -m widgets.scatter.demo`: predicted over true numbers, and runs with their Pareto front."""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtWidgets import QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.diagram.demo import example_columns
from widgets.layouts import horizontal
from widgets.scatter import ColumnScatter, ScatterPlot


def make() -> QWidget:
    """A cloud around the diagonal, and the accuracy of 200 runs over their time."""
    random = np.random.default_rng(0)
    both = QWidget()
    layout = horizontal(both, 0)
    card, plot = Card("Predictions"), ScatterPlot()
    true = random.uniform(50, 300, 400)
    plot.set_titles("true", "predicted")
    plot.set_points(true, true + random.normal(size=400) * 20, line="equal")
    card.body.addWidget(plot)
    layout.addWidget(card)
    runs, scatter = Card("Runs"), ColumnScatter()
    rate, _, _, _, time, accuracy = example_columns()
    keys = [f"run-{row}" for row in range(len(rate))]
    scatter.set_data(keys, keys, time, accuracy, rate, front=True)
    runs.body.addWidget(scatter)
    layout.addWidget(runs)
    return both


if __name__ == "__main__":
    sys.exit(run_demo(make, "Scatter", (1000, 420)))
