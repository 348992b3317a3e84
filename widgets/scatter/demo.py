"""`python -m widgets.scatter.demo`: predicted over true numbers."""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtWidgets import QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.scatter import ScatterPlot


def make() -> QWidget:
    """A cloud around the diagonal."""
    random = np.random.default_rng(0)
    card, plot = Card("Predictions"), ScatterPlot()
    true = random.uniform(50, 300, 400)
    plot.set_titles("true", "predicted")
    plot.set_points(true, true + random.normal(size=400) * 20, line="equal")
    card.body.addWidget(plot)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Scatter", (420, 420)))
