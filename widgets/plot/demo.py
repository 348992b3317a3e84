"""`python -m widgets.plot.demo`: two runs that are training."""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.plot import CurvePlot


def make() -> QWidget:
    """A card with a plot that has 400 steps and receives more."""
    plot = CurvePlot("Loss", "step")
    random = np.random.default_rng(0)

    def loss(steps: np.ndarray, rate: float) -> np.ndarray:
        noise = random.gamma(4, 0.25, len(steps))
        return (2.4 * np.exp(-steps / rate) + 0.08) * noise

    plot.add_series("static", "lenet · static", 0)
    plot.add_series("eager", "lenet · eager", 1)
    plot.add_series("validation", "lenet · static, validation", 0, dashed=True)
    steps = np.arange(400.0)
    plot.append("static", steps, loss(steps, 70))
    values = loss(steps, 90)
    values[[120, 121]] = np.nan
    plot.append("eager", steps, values)
    plot.append("validation", [100, 200, 300, 400], [0.55, 0.21, 0.13, 0.16])
    plot.set_best("validation", 300)
    plot.set_smoothing(0.03)
    timer = QTimer(plot)

    def more() -> None:
        last = plot.series_data("static")[0][-1]
        batch = np.arange(last + 1, last + 6)
        plot.append("static", batch, loss(batch, 70))

    timer.timeout.connect(more)
    timer.start(60)
    card = Card()
    card.body.addWidget(plot)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Curves"))
