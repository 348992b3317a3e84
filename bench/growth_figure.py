"""Draws what ``bench.growth`` measured: the time of a step against batch, width and depth, in logarithms."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QApplication

from bench.growth_table import STAY, curves

SIZE = (1200, 420)
MILLISECONDS = [digit * 10.0**power for power in range(-2, 4) for digit in (1, 2, 5)]
INK, GRID = "#333333", 0.15
# Colours that colour-blind readers can distinguish, and marks for printing in grey.
STYLES = (("#0072b2", "o"), ("#009e73", "s"), ("#d55e00", "t"), ("#cc79a7", "d"), ("#e69f00", "+"))


def draw(report: Mapping[str, Any], file: Path) -> None:
    """Write the image (PNG) of a report of ``bench.growth``; raises OSError where that can't be."""
    app = QApplication.instance() or QApplication([])
    pg.setConfigOptions(antialias=True, background="w", foreground=INK)
    view = pg.GraphicsLayoutWidget()
    view.resize(*SIZE)
    styles: dict[str, tuple[str, str]] = {}
    plots, times = [], []
    for column, (axis, points) in enumerate(report["axes"].items()):
        plot = view.addPlot(row=0, col=column)
        stay = ", ".join(f"{name} {size}" for name, size in STAY[axis].items())
        plot.setTitle(f"{axis} ({stay})", size="11pt")
        plot.setLabel("bottom", axis)
        plot.setLogMode(x=True, y=True)
        plot.showGrid(x=True, y=True, alpha=GRID)
        sizes = [int(size) for size in points]
        plot.getAxis("bottom").setTicks([[(float(np.log10(size)), str(size)) for size in sizes], []])
        steps = [(float(np.log10(value)), f"{value:g}") for value in MILLISECONDS]
        plot.getAxis("left").setTicks([steps, []])
        if not plots:
            plot.setLabel("left", "ms a step")
            plot.addLegend(offset=(10, 5))
        plots.append(plot)
        for name, measured in curves(axis, points).items():
            colour, mark = styles.setdefault(name, STYLES[len(styles) % len(STYLES)])
            milliseconds = [one.series.best * 1e3 for _, one in measured]
            times += milliseconds
            plot.plot(
                [size for size, _ in measured],
                milliseconds,
                pen=pg.mkPen(colour, width=2),
                symbol=mark,
                symbolSize=8,
                symbolBrush=colour,
                symbolPen=None,
                name=name,
            )
    for plot in plots:  # one scale, so that the three can be compared
        plot.setYRange(float(np.log10(min(times))), float(np.log10(max(times))))
    view.show()
    app.processEvents()
    saved = view.grab().save(str(file), "PNG", 0)
    view.close()
    view.deleteLater()
    if not saved:
        raise OSError(f"bench.growth: {file}: the image can't be written; does its folder exist?")
