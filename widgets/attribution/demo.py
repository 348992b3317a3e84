"""`python -m widgets.attribution.demo`: an invented digit with a map over it, the map alone, and a row."""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtWidgets import QWidget

from widgets import theme
from widgets.attribution import ColumnBars, MapView, ShadeLegend, Shades
from widgets.cards import Card
from widgets.demo import run_demo
from widgets.layouts import horizontal

ROWS = (("sepal length", "5.1", 0.4), ("sepal width", "3.5", -0.1), ("petal length", "1.4", -0.9))


def make() -> QWidget:
    """A ring, whose upper half speaks for the answer; the last rows are not computed yet."""
    y, x = np.mgrid[-1:1:28j, -1:1:28j]
    ring = np.exp(-((np.hypot(x, y) - 0.55) ** 2) / 0.02).astype(np.float32)
    values = (-ring * y).astype(np.float32)
    values[24:] = np.nan
    card, over, alone = Card("Why"), MapView(), MapView(alone=True)
    for view in (over, alone):
        view.show_map(ring, values)
    images = horizontal(None, 0, theme.SPACE_M)
    images.addWidget(over)
    images.addWidget(alone)
    card.body.addLayout(images, 1)
    legend, bars = ShadeLegend(), ColumnBars()
    legend.show_shades(Shades.of(values))
    bars.set_rows(ROWS)
    card.body.addWidget(legend)
    card.body.addWidget(bars)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Why", (460, 380)))
