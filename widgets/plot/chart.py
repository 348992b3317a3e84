"""The drawing area of a curve plot: axes without a frame, grid lines, curves, a cursor that reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout

from widgets import theme
from widgets.plot.series import Series, Trace

RAW_OPACITY = 0.22
LINE_WIDTH = 1.6
REDRAW_MS = 50
FEW_POINTS = 40
DASH_POINTS = 500
DENSE_POINTS = 1000
FULL_INK = 30
ZOOM_STEP = 0.8


def nice_ticks(low: float, high: float, most: int) -> tuple[float, list[float]]:
    """A step of 1, 2, 2.5 or 5 times a power of ten and its multiples in [low, high], about `most`.

    At least two, since an axis with fewer numbers says nothing.
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return 1.0, []
    raw = span / max(1, most - 1)
    while True:
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last > first:
            return step, [k * step for k in range(first, last + 1)]
        raw /= 2


class _Axis(pg.AxisItem):
    """An axis that is only its grid lines and numbers."""

    def __init__(self, orientation: str, spacing: int, grid: bool) -> None:
        super().__init__(orientation, showValues=True)
        self._spacing, self._lines, self.log = spacing, grid, False
        self.setGrid(255)
        self.setStyle(tickLength=0, tickTextOffset=6, hideOverlappingLabels=True)

    def boundingRect(self) -> QRectF:
        # Room for the halves of the numbers at both ends, which pyqtgraph would leave out.
        return QRectF(super().boundingRect().adjusted(-14, -8, 14, 8))

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        most = max(2, int(size / self._spacing))
        if self.log:
            return [(1.0, self._log_ticks(low, high, most))]
        step, values = nice_ticks(low, high, most)
        return [(step, values)]

    @staticmethod
    def _log_ticks(low: float, high: float, most: int) -> list[float]:
        inside = math.floor(high) - math.ceil(low) + 1
        decades = range(math.floor(low), math.ceil(high) + 1, max(1, -(-inside // most)))
        several, close = (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
        factors = (1,) if high - low > 3 else several if high - low > 0.6 else close
        values = [d + math.log10(f) for d in decades for f in factors]
        return [value for value in values if low <= value <= high]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if self.log:
            return [theme.format_number(10.0**value, digits=3) for value in values]
        # As many decimals as the step has, so that all numbers of an axis have the same form.
        decimals = max(0, math.ceil(-math.log10(spacing) - 1e-9)) if spacing else 0
        if spacing and abs(spacing * 10**decimals - round(spacing * 10**decimals)) > 1e-6:
            decimals += 1
        largest = max((abs(value) for value in values), default=0)
        if decimals > 4 or largest >= 1e7:
            return [theme.format_number(float(value)) for value in values]
        return [f"{value:,.{decimals}f}".replace(",", "\u2009") for value in values]

    def generateDrawSpecs(self, painter: pg.QtGui.QPainter) -> tuple[Any, Any, Any] | None:
        specs = super().generateDrawSpecs(painter)
        if specs is None:
            return None
        axis, ticks, texts = specs
        line = QPen(QColor(theme.current().line))
        shown = [(line, a, b) for _, a, b in ticks] if self._lines else []
        return (QPen(Qt.PenStyle.NoPen), axis[1], axis[2]), shown, texts


class _Readout(QFrame):
    """The small card beside the cursor."""

    def __init__(self, parent: pg.PlotWidget) -> None:
        super().__init__(parent)
        self._chart = parent
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setFont(theme.font(theme.BODY_PX - 1))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.addWidget(self.label)
        self.hide()

    def show_rows(self, rows: str, at: QPointF) -> None:
        self.label.setText(rows)
        self.adjustSize()
        room = self._chart.rect()
        left = at.x() + 14 if at.x() + 14 + self.width() < room.width() else at.x() - 14 - self.width()
        top = min(max(4.0, at.y() - self.height() / 2), room.height() - self.height() - 4.0)
        self.move(round(max(4.0, left)), round(top))
        self.show()


class _Items(NamedTuple):
    """What draws one series: faint raw trace, line, crosses for what isn't finite, dots of a short series."""

    raw: pg.PlotCurveItem
    line: pg.PlotCurveItem
    bad: pg.ScatterPlotItem
    dots: pg.ScatterPlotItem


class Chart(pg.PlotWidget):
    """Draws series; x pans and zooms with the mouse or the keys, y always fits what is visible.

    `rows_at(x)` makes the text of the read-out; the owner supplies it.
    """

    cursor_moved = Signal(float)

    def __init__(self, series: Callable[[], Iterable[Series]], rows_at: Callable[[float], str]) -> None:
        self._left = _Axis("left", 44, grid=True)
        self._bottom = _Axis("bottom", 90, grid=False)
        super().__init__(axisItems={"left": self._left, "bottom": self._bottom}, enableMenu=False)
        for axis in (self._left, self._bottom):
            # Under the curves: pyqtgraph puts axes, and with them grid lines, above.
            axis.setZValue(-1000)
        self._series, self._rows_at = series, rows_at
        self.log = False
        self.smoothing = 0.0
        self._whole = True
        self._busy = False
        self._lines: dict[str, _Items] = {}
        self.plotItem.hideButtons()
        # pyqtgraph makes its menu even where it isn't wanted; as a child it goes when the chart goes.
        self.plotItem.ctrlMenu.setParent(self, self.plotItem.ctrlMenu.windowFlags())
        self.plotItem.setContentsMargins(0, 6, 18, 0)
        view = self.plotItem.getViewBox()
        view.setMouseEnabled(x=True, y=False)
        view.disableAutoRange()
        view.setDefaultPadding(0)
        view.sigXRangeChanged.connect(self._x_changed)
        view.sigRangeChangedManually.connect(self._hide_cursor)
        view.sigResized.connect(self.schedule)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._cursor.setZValue(5)
        self._cursor.hide()
        self.addItem(self._cursor, ignoreBounds=True)
        self._readout = _Readout(self)
        self.cursor_x: float | None = None
        self.scene().sigMouseMoved.connect(self._mouse_moved)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMinimumSize(160, 120)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REDRAW_MS)
        self._timer.timeout.connect(self.redraw)
        theme.changed.connect(self._recolor)
        self._recolor()

    # what is drawn

    def schedule(self) -> None:
        """Redraw soon: at most 20 times a second, however often this is called."""
        if not self._timer.isActive():
            self._timer.start()

    def show_whole(self) -> None:
        """Follow all points again after a zoom."""
        self._whole = True
        self.redraw()

    @property
    def follows(self) -> bool:
        """Whether the axis follows new points, as it does until somebody pans or zooms."""
        return self._whole

    def redraw(self) -> None:
        """Draw what is visible now."""
        self._timer.stop()
        if self._busy:
            return
        self._busy = True
        try:
            self._left.log = self.log
            if self._whole:
                self._fit_x()
            self._draw_visible()
        finally:
            self._busy = False

    def _fit_x(self) -> None:
        ends = [s.xs.view() for s in self._series() if s.visible and len(s)]
        low = min((float(np.min(xs[[0, -1]])) for xs in ends), default=0.0)
        high = max((float(xs.max()) if len(xs) < 1000 else float(xs[-1]) for xs in ends), default=1.0)
        self.plotItem.getViewBox().setXRange(low, high if high > low else low + 1, padding=0)

    def _draw_visible(self) -> None:
        view = self.plotItem.getViewBox()
        (low, high), _ = view.viewRange()
        columns = max(16, round(view.width() * self.devicePixelRatioF()))
        alive = set()
        extents: list[tuple[float, float]] = []
        marks: list[tuple[Series, pg.ScatterPlotItem]] = []
        for series in self._series():
            alive.add(series.key)
            raw, line, bad, dots = self._items(series)
            if not (series.visible and len(series)):
                for item in (raw, line, bad, dots):
                    item.setVisible(False)
                continue
            color = QColor(theme.run_color(series.color))
            trace = series.trace(low, high, columns, smooth=False, log=self.log)
            _extend(extents, trace)
            smoothed = bool(self.smoothing and series.smoothable)
            if smoothed:
                smooth = series.trace(low, high, columns, smooth=True, log=self.log)
                _extend(extents, smooth)
                # Mixed, not translucent: a dense translucent trace costs 20 times an opaque one (measured).
                faint = theme.mix(theme.current().panel, color.name(), RAW_OPACITY)
                self._set(raw, trace, QPen(faint, 1))
                self._set(line, smooth, QPen(color, LINE_WIDTH), series.dashed)
            else:
                self._set(line, trace, QPen(color, LINE_WIDTH), series.dashed)
            raw.setVisible(smoothed)
            line.setVisible(True)
            marks.append((series, bad))
            few = len(series) <= FEW_POINTS and not smoothed
            dots.setVisible(few)
            if few:
                dots.setData(trace.x, trace.y, pen=None, brush=color)
        for key in set(self._lines) - alive:
            for item in self._lines.pop(key):
                self.removeItem(item)
        bottom, top = self._fit_y(extents)
        for series, bad in marks:
            self._mark_bad(series, bad, low, high, columns, bottom + 0.02 * (top - bottom))

    def _items(self, series: Series) -> _Items:
        if series.key not in self._lines:
            raw = pg.PlotCurveItem(connect="finite")
            line = pg.PlotCurveItem(connect="finite")
            bad = pg.ScatterPlotItem(symbol="x", size=8, pxMode=True)
            dots = pg.ScatterPlotItem(symbol="o", size=5, pxMode=True)
            # All faint traces lie under all lines.
            for level, item in enumerate((raw, line, bad, dots)):
                item.setZValue(level)
                self.addItem(item, ignoreBounds=True)
            self._lines[series.key] = _Items(raw, line, bad, dots)
        return self._lines[series.key]

    def _set(self, item: pg.PlotCurveItem, trace: Trace, pen: QPen, dashed: bool = False) -> None:
        # Single segments: Qt strokes a wide antialiased polyline as one path, 50 to 100 times slower
        # (measured). Dashes need the path, so that they go on from point to point; a dense curve is drawn
        # without them.
        dashed = dashed and len(trace.x) <= DASH_POINTS
        if dashed:
            pen.setDashPattern([4, 3])
        # A cosmetic pen counts device pixels. A curve that fills an area is drawn with the thinnest one,
        # which is fast at any height; a piece of it stands in every column of pixels, so nothing shows
        # through.
        ratio = self.devicePixelRatioF()
        full = len(trace.x) > DENSE_POINTS and self._ink(trace) > FULL_INK
        pen.setWidthF(1 if full else pen.widthF() * ratio)
        pen.setCosmetic(True)
        item.opts["antialias"] = not full and pen.widthF() > ratio
        item.setSegmentedLineMode("off" if dashed else "on")
        item.setPen(pen)
        item.setData(trace.x, trace.y)

    def _ink(self, trace: Trace) -> float:
        """How far the pen goes up and down, in heights of the view."""
        view = self.plotItem.getViewBox()
        low, high = view.viewRange()[1]
        return float(np.nansum(np.abs(np.diff(trace.y)))) / max(high - low, 1e-300)

    def _fit_y(self, extents: list[tuple[float, float]]) -> tuple[float, float]:
        low = min((a for a, _ in extents), default=0.0)
        high = max((b for _, b in extents), default=1.0)
        if high <= low:
            room = abs(low) * 0.1 or 0.5
            low, high = low - room, high + room
        pad = 0.05 * (high - low)
        # A curve that comes near zero stands on it: the axis then doesn't tremble with every new minimum.
        bottom = 0.0 if not self.log and 0 <= low < 0.35 * high else low - pad
        self.plotItem.getViewBox().setYRange(bottom, high + pad, padding=0)
        return bottom, high + pad

    def _mark_bad(self, series: Series, item: pg.ScatterPlotItem, low: float, high: float, columns: int,
                  level: float) -> None:  # fmt: skip
        xs = series.bad_xs
        xs = xs[(xs >= low) & (xs <= high)]
        if len(xs) > columns:
            xs = xs[
                np.unique(((xs - low) / max(high - low, 1e-300) * columns).astype(int), return_index=True)[1]
            ]
        item.setVisible(bool(len(xs)))
        if len(xs):
            item.setData(xs, np.full(len(xs), level), pen=pg.mkPen(theme.current().bad, width=2), brush=None)

    # moving through it

    def _x_changed(self) -> None:
        if not self._busy:
            # Somebody else moved the view: the mouse, a key, a caller.
            self._whole = False
            self.redraw()

    def set_view(self, low: float, high: float) -> None:
        """Show this stretch of x; it stays until `show_whole`."""
        self.plotItem.getViewBox().setXRange(low, high, padding=0)

    def mouseDoubleClickEvent(self, event: pg.QtGui.QMouseEvent) -> None:
        self.show_whole()
        event.accept()

    def leaveEvent(self, event: pg.QtCore.QEvent) -> None:
        self._hide_cursor()
        super().leaveEvent(event)

    def focusOutEvent(self, event: pg.QtGui.QFocusEvent) -> None:
        self._hide_cursor()
        super().focusOutEvent(event)

    def _mouse_moved(self, at: QPointF) -> None:
        view = self.plotItem.getViewBox()
        if view.sceneBoundingRect().contains(at):
            self.read_at(float(view.mapSceneToView(at).x()), at)
        else:
            self._hide_cursor()

    def read_at(self, x: float, at: QPointF | None = None) -> None:
        """Put the cursor at the point nearest to x and show what the curves are there."""
        found = [(abs(float(s.xs.view()[i]) - x), float(s.xs.view()[i]))
                 for s in self._series() if s.visible and (i := s.nearest(x)) is not None]  # fmt: skip
        if not found:
            return self._hide_cursor()
        self.cursor_x = min(found)[1]
        self._cursor.setValue(self.cursor_x)
        self._cursor.show()
        view = self.plotItem.getViewBox()
        if at is None:
            at = view.mapViewToScene(QPointF(self.cursor_x, sum(view.viewRange()[1]) / 2))
        self._readout.show_rows(self._rows_at(self.cursor_x), QPointF(self.mapFromScene(at)))
        self.cursor_moved.emit(self.cursor_x)

    def _hide_cursor(self, *_: object) -> None:
        self.cursor_x = None
        self._cursor.hide()
        self._readout.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        (low, high), _ = self.plotItem.getViewBox().viewRange()
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            step = (high - low) / 60 * (1 if key == Qt.Key.Key_Right else -1)
            at = self.cursor_x if self.cursor_x is not None else (low + high) / 2
            self.read_at(min(max(at + step, low), high))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            factor = 1 / ZOOM_STEP if key == Qt.Key.Key_Minus else ZOOM_STEP
            middle = self.cursor_x if self.cursor_x is not None else (low + high) / 2
            self.set_view(middle + (low - middle) * factor, middle + (high - middle) * factor)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_0):
            self.show_whole()
        elif key == Qt.Key.Key_Escape and self.cursor_x is not None:
            self._hide_cursor()
        else:
            # Not the base class's: it would scroll the scene.
            event.ignore()

    def _recolor(self) -> None:
        tokens = theme.current()
        self.setBackground(tokens.panel)
        for axis in (self._left, self._bottom):
            axis.setTextPen(tokens.mute)
            axis.setTickFont(theme.font(theme.SECTION_PX))
            axis.picture = None
        self._cursor.setPen(pg.mkPen(tokens.mute, width=1))
        self.schedule()


def _extend(extents: list[tuple[float, float]], trace: Trace) -> None:
    if len(trace.y) and not np.isnan(trace.y).all():
        extents.append((float(np.nanmin(trace.y)), float(np.nanmax(trace.y))))
