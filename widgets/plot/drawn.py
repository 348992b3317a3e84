"""The graphics items of one curve: faint raw trace, line, crosses, dots, ring of the best point."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor, QPen

from widgets import theme
from widgets.plot.series import Series, Trace

RAW_OPACITY = 0.22
QUIET_OPACITY, QUIET_BELOW = 0.5, 10
LINE_WIDTH = 1.6
FEW_POINTS = 40
DASH_POINTS = 500
DENSE_POINTS = 1000
FULL_INK = 30
BEST_PX = 11


class DrawnSeries:
    """Draws one series into a chart (which says by ``log`` whether its y axis is logarithmic)."""

    def __init__(self, plot: Any) -> None:
        self._plot = plot
        self.raw = pg.PlotCurveItem(connect="finite")
        self.line = pg.PlotCurveItem(connect="finite")
        self.bad = pg.ScatterPlotItem(symbol="x", size=8, pxMode=True)
        self.dots = pg.ScatterPlotItem(symbol="o", size=5, pxMode=True)
        self.best = pg.ScatterPlotItem(symbol="o", size=BEST_PX, pxMode=True)
        # All faint traces lie under all lines.
        for level, item in enumerate(self):
            item.setZValue(level)
            plot.addItem(item, ignoreBounds=True)

    def __iter__(self) -> Iterator[pg.GraphicsObject]:
        return iter((self.raw, self.line, self.bad, self.dots, self.best))

    def remove(self) -> None:
        """Take the items out of the chart."""
        for item in self:
            self._plot.removeItem(item)

    def hide(self) -> None:
        """Draw nothing of the series."""
        for item in self:
            item.setVisible(False)

    def draw(self, series: Series, trace: Trace, smooth: Trace | None) -> None:
        """Draw the points, and over them their average where there is one."""
        color = QColor(theme.run_color(series.color))
        if series.quiet:
            color = theme.mix(theme.current().panel, color.name(), QUIET_OPACITY)
        for level, item in enumerate(self):
            item.setZValue(level - (QUIET_BELOW if series.quiet else 0))
        if smooth is not None:
            # Mixed, not translucent: a dense translucent trace costs 20 times an opaque one (measured).
            faint = theme.mix(theme.current().panel, color.name(), RAW_OPACITY)
            self._set(self.raw, trace, QPen(faint, 1))
        self._set(self.line, trace if smooth is None else smooth, QPen(color, LINE_WIDTH), series.dashed)
        self.raw.setVisible(smooth is not None)
        self.line.setVisible(True)
        few = len(series) <= FEW_POINTS and smooth is None and bool(np.isfinite(trace.y).any())
        self.dots.setVisible(few)
        if few:
            _set_style(self.dots, "", color.name())
            self.dots.setData(trace.x, trace.y)
        place = None if series.best is None else series.nearest(series.best)
        y = math.nan if place is None else series.trace_value(place, self._plot.log)
        self.best.setVisible(math.isfinite(y))
        if place is not None and math.isfinite(y):
            _set_style(self.best, color.name(), theme.current().panel)
            self.best.setData([float(series.xs.view()[place])], [y])

    def mark_bad(self, xs: np.ndarray, level: float) -> None:
        """Crosses at the foot of the chart, where values are not finite."""
        self.bad.setVisible(bool(len(xs)))
        if len(xs):
            _set_style(self.bad, theme.current().bad, "")
            self.bad.setData(xs, np.full(len(xs), level))

    def _set(self, item: pg.PlotCurveItem, trace: Trace, pen: QPen, dashed: bool = False) -> None:
        # Single segments: Qt strokes a wide antialiased polyline as one path, 50 to 100 times slower
        # (measured). Dashes need the path, so that they continue from point to point; a dense curve is drawn
        # without them.
        dashed = dashed and len(trace.x) <= DASH_POINTS
        if dashed:
            pen.setDashPattern([4, 3])
        # A cosmetic pen counts device pixels. A curve that fills an area is drawn with the thinnest one,
        # which is fast at any height; every column of pixels contains a piece of it, so nothing shows
        # through.
        ratio = self._plot.devicePixelRatioF()
        full = len(trace.x) > DENSE_POINTS and self._ink(trace) > FULL_INK
        pen.setWidthF(1 if full else pen.widthF() * ratio)
        pen.setCosmetic(True)
        item.opts["antialias"] = not full and pen.widthF() > ratio
        item.setSegmentedLineMode("off" if dashed else "on")
        item.setPen(pen)
        item.setData(trace.x, trace.y)

    def _ink(self, trace: Trace) -> float:
        """How far the pen goes up and down, in heights of the view."""
        low, high = self._plot.plotItem.getViewBox().viewRange()[1]
        way = float(np.nansum(np.abs(np.diff(trace.y))))
        return way / max(float(high - low), 1e-300)


def _set_style(item: pg.ScatterPlotItem, pen: str, brush: str) -> None:
    """Draw the points with these colours; empty for none.

    pyqtgraph renders each pen and brush object into an atlas of the item, and never forgets one: so they
    change only where the colours do.
    """
    if item.opts.get("style") != (pen, brush):
        item.opts["style"] = pen, brush
        item.setPen(pg.mkPen(pen, width=2) if pen else pg.mkPen(None))
        item.setBrush(pg.mkBrush(brush) if brush else pg.mkBrush(None))
