"""The drawing area of a curve plot: axes without a frame, grid lines, curves, a cursor that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QElapsedTimer, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainterPath, QShowEvent
from PySide6.QtWidgets import QFrame

from widgets import theme
from widgets.delayed import delayed
from widgets.plot.axis import Axis
from widgets.plot.drawn import DrawnSeries
from widgets.plot.limits import robust_range, whole_range
from widgets.plot.readout import Readout
from widgets.plot.series import Series

Floats = NDArray[np.float64]

REDRAW_MS = 50
ZOOM_STEP = 0.8
MARK_PX, MARK_HEIGHT = 8, 0.035
CLICK_PX = 8.0
OUTSIDE_PX = 7  # half of the largest marker, with its outline


class _View(pg.ViewBox):
    """Draws a few pixels past its edges, so that a marker there is whole."""

    def __init__(self) -> None:
        super().__init__(enableMenu=False)

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self.rect().adjusted(-OUTSIDE_PX, -OUTSIDE_PX, OUTSIDE_PX, OUTSIDE_PX))
        return path


class Chart(pg.PlotWidget):
    """Draws series; x pans and zooms with the mouse or the keys, y always fits what is visible.

    `rows_at(x)` makes the text of the read-out; the owner supplies it.
    """

    cursor_moved = Signal(float)
    left_out_changed = Signal()
    curve_clicked = Signal(str)
    x_clicked = Signal(float)

    def __init__(self, series: Callable[[], Iterable[Series]], rows_at: Callable[[float], str]) -> None:
        self._left = Axis("left", 36, grid=True)
        self._bottom = Axis("bottom", 90, grid=False)
        super().__init__(
            axisItems={"left": self._left, "bottom": self._bottom}, viewBox=_View(), enableMenu=False
        )
        for axis in (self._left, self._bottom):
            # Under the curves: pyqtgraph puts axes, and with them grid lines, above.
            axis.setZValue(-1000)
        self._series, self._rows_at = series, rows_at
        self.log = False
        self.robust = True  # a range of y that a few extreme values can't flatten
        self.whole_range = False
        self.left_out = (0, 0.0)  # how many points are outside of it, and the farthest
        self._cuts = False
        self._whole = True
        self._busy = self._stale = False
        self._lines: dict[str, DrawnSeries] = {}
        self.plotItem.hideButtons()
        # pyqtgraph makes its menu even where it isn't wanted; as a child it goes when the chart goes.
        self.plotItem.ctrlMenu.setParent(self, self.plotItem.ctrlMenu.windowFlags())
        self.plotItem.setContentsMargins(0, 6, 18, 6)
        view = self.plotItem.getViewBox()
        view.setMouseEnabled(x=True, y=False)
        view.disableAutoRange()
        view.setDefaultPadding(0)
        view.sigXRangeChanged.connect(self._x_changed)
        view.sigRangeChangedManually.connect(self.hide_cursor)
        view.sigResized.connect(self.schedule)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._cursor.setZValue(5)
        self._cursor.hide()
        self.addItem(self._cursor, ignoreBounds=True)
        self._position = pg.InfiniteLine(angle=90, movable=False)  # what other widgets show
        self._position.setZValue(4)
        self._position.hide()
        self.addItem(self._position, ignoreBounds=True)
        self._readout = Readout(self)
        self.cursor_x: float | None = None
        self._marks = pg.PlotCurveItem(connect="pairs")
        self.addItem(self._marks, ignoreBounds=True)
        self.marks: Floats = np.empty(0)  # where epochs end
        self.scene().sigMouseMoved.connect(self._mouse_moved)
        self.scene().sigMouseClicked.connect(self._mouse_clicked)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMinimumSize(160, 120)
        self._timer = delayed(self, REDRAW_MS, self.redraw)
        self._since = QElapsedTimer()  # the last redraw
        theme.changed.connect(self._recolor)
        self._recolor()

    # what is drawn

    def schedule(self) -> None:
        """Redraw in the next turn of the loop, but at most 20 times a second. A hidden chart is drawn when it
        is shown: fifty curves take longer than another page may wait."""
        if not self.isVisible():
            self._stale = True
        elif not self._timer.isActive():
            # Not always after the same time: new points after a pause would wait without a reason.
            waited = self._since.elapsed() if self._since.isValid() else REDRAW_MS
            self._timer.start(max(0, REDRAW_MS - waited))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.schedule()

    def set_position(self, x: float | None) -> None:
        """Mark an x that other widgets show with a line; None for none."""
        self._position.setVisible(x is not None)
        if x is not None:
            self._position.setValue(x)

    def position(self) -> float | None:
        """The x that is marked; None for none."""
        return float(self._position.value()) if self._position.isVisible() else None

    def set_titles(self, x: str, y: str) -> None:
        """Name what the axes show."""
        self._bottom.set_title(x)
        self._left.set_title(y)

    def set_percent(self, percent: bool) -> None:
        """Whether the values are shares that the vertical axis shows as percentages."""
        if percent != self._left.percent:
            self._left.percent = percent
            self._left.picture = None
            self._left.update()

    def show_whole(self) -> None:
        """Follow all points again after a zoom."""
        self._whole = True
        self.redraw()

    @property
    def follows(self) -> bool:
        """Whether the axis follows new points, as it does until the user pans or zooms."""
        return self._whole

    def redraw(self) -> None:
        """Draw what is visible now."""
        self._timer.stop()
        self._stale = False
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
            self._since.start()

    def _fit_x(self) -> None:
        ends = [s.xs.view() for s in self._series() if s.visible and len(s)]
        low = min((float(np.min(xs[[0, -1]])) for xs in ends), default=0.0)
        high = max((float(xs.max()) if len(xs) < 1000 else float(xs[-1]) for xs in ends), default=1.0)
        self.plotItem.getViewBox().setXRange(low, high if high > low else low + 1, padding=0)

    def _draw_visible(self) -> None:
        view = self.plotItem.getViewBox()
        (low, high), _ = view.viewRange()
        columns = max(16, round(view.width() * self.devicePixelRatioF()))
        alive: set[str] = set()
        shown: list[tuple[Series, DrawnSeries]] = []
        drawn: list[Floats] = []
        for series in self._series():
            alive.add(series.key)
            if series.key not in self._lines:
                self._lines[series.key] = DrawnSeries(self)
            items = self._lines[series.key]
            if not (series.visible and len(series)):
                items.hide()
                continue
            trace = series.trace(low, high, columns, smooth=False, log=self.log)
            smooth = (
                series.trace(low, high, columns, smooth=True, log=self.log) if series.is_smoothed else None
            )
            items.draw(series, trace, smooth)
            drawn.append(trace.y if smooth is None else np.concatenate([trace.y, smooth.y]))
            shown.append((series, items))
        for key in set(self._lines) - alive:
            self._lines.pop(key).remove()
        bottom, top = self._fit_y(drawn)
        for series, items in shown:
            items.mark_bad(_thinned(series.bad_xs, low, high, columns), bottom + 0.02 * (top - bottom))
        self._draw_marks(low, high, columns, bottom, top)
        self._tell_left_out([series for series, _ in shown], low, high, bottom, top)

    def _draw_marks(self, low: float, high: float, columns: int, bottom: float, top: float) -> None:
        """Short ticks at the foot of the chart, at most one in eight columns."""
        xs = np.repeat(_thinned(self.marks, low, high, columns // MARK_PX), 2)
        ys = np.tile([bottom, bottom + MARK_HEIGHT * (top - bottom)], len(xs) // 2)
        self._marks.setPen(pg.mkPen(theme.current().mute, width=1))
        self._marks.setData(xs, ys)

    def _fit_y(self, drawn: list[Floats]) -> tuple[float, float]:
        whole = whole_range(drawn)
        found = robust_range(drawn) if self.robust and not self.whole_range else whole
        self._cuts = found != whole
        low, high = found or (0.0, 1.0)
        if high <= low:
            room = abs(low) * 0.1 or 0.5
            low, high = low - room, high + room
        pad = 0.05 * (high - low)
        # A curve that comes near zero stands on it: the axis then doesn't tremble with every new minimum.
        bottom = 0.0 if not self.log and 0 <= low < 0.35 * high else low - pad
        self.plotItem.getViewBox().setYRange(bottom, high + pad, padding=0)
        return bottom, high + pad

    def _tell_left_out(self, shown: list[Series], low: float, high: float, bottom: float, top: float) -> None:
        """Say how many points that are drawn for this stretch of x lie outside of the y range."""
        outside: list[Floats] = []
        if self._cuts:  # else there is nothing to count, which would take longer than to draw
            if self.log:
                bottom, top = 10.0**bottom, 10.0 ** min(top, 300.0)
            for series in shown:
                values = series.outside(low, high, bottom, top)
                outside.append(values[values > 0] if self.log else values)  # no logarithm isn't far out
            outside = [values for values in outside if len(values)]
        farthest = max((float(values[np.argmax(np.abs(values))]) for values in outside), key=abs, default=0.0)
        omitted = (sum(map(len, outside)), farthest)
        if omitted != self.left_out:
            self.left_out = omitted
            self.left_out_changed.emit()

    def set_whole_range(self, on: bool) -> None:
        """Show all values, however far out; if off, omit outliers that would flatten the rest."""
        self.whole_range = on
        self.schedule()

    # moving through it

    def _x_changed(self) -> None:
        if not self._busy:
            # The view was moved by the mouse, a key or a caller.
            self._whole = False
            self.redraw()

    def set_view(self, low: float, high: float) -> None:
        """Show this stretch of x; it stays until `show_whole`."""
        self.plotItem.getViewBox().setXRange(low, high, padding=0)

    def mouseDoubleClickEvent(self, event: pg.QtGui.QMouseEvent) -> None:
        self.show_whole()
        event.accept()

    def leaveEvent(self, event: pg.QtCore.QEvent) -> None:
        self.hide_cursor()
        super().leaveEvent(event)

    def focusOutEvent(self, event: pg.QtGui.QFocusEvent) -> None:
        self.hide_cursor()
        super().focusOutEvent(event)

    def _mouse_moved(self, at: QPointF) -> None:
        view = self.plotItem.getViewBox()
        if view.sceneBoundingRect().contains(at):
            self.read_at(float(view.mapSceneToView(at).x()), at)
        else:
            self.hide_cursor()

    def _mouse_clicked(self, event: Any) -> None:
        view, place = self.plotItem.getViewBox(), event.scenePos()
        if event.button() != Qt.MouseButton.LeftButton or not view.sceneBoundingRect().contains(place):
            return
        at = view.mapSceneToView(place)
        self.x_clicked.emit(float(at.x()))
        key = self.curve_at(at)
        if key:
            self.curve_clicked.emit(key)

    def curve_at(self, at: QPointF) -> str:
        """The key of the curve that is drawn at a point of the view, or a few pixels from it; else empty."""
        width, height = self.plotItem.getViewBox().viewPixelSize()
        found: list[tuple[float, str]] = []
        for key, items in self._lines.items():
            x, y = items.line.getData() if items.line.isVisible() else (None, None)
            if x is None or not len(x):
                continue
            near = np.abs(x - at.x()) <= CLICK_PX * width
            away = np.hypot((x[near] - at.x()) / width, (y[near] - at.y()) / height)
            distances = away[np.isfinite(away)].tolist()
            if x[0] <= at.x() <= x[-1]:
                distances.append(abs(float(np.interp(at.x(), x, y)) - at.y()) / height)
            found.append((min(distances, default=np.inf), key))
        distance, key = min(found, default=(np.inf, ""))
        return key if distance <= CLICK_PX else ""

    def read_at(self, x: float, at: QPointF | None = None) -> None:
        """Put the cursor at the point nearest to x and show what the curves are there."""
        found = [
            (abs(float(s.xs.view()[i]) - x), float(s.xs.view()[i]))
            for s in self._series()
            if s.visible and (i := s.nearest(x)) is not None
        ]
        if not found:
            return self.hide_cursor()
        self.cursor_x = min(found)[1]
        self._cursor.setValue(self.cursor_x)
        self._cursor.show()
        view = self.plotItem.getViewBox()
        if at is None:
            at = view.mapViewToScene(QPointF(self.cursor_x, sum(view.viewRange()[1]) / 2))
        self._readout.show_rows(self._rows_at(self.cursor_x), QPointF(self.mapFromScene(at)))
        self.cursor_moved.emit(self.cursor_x)

    def hide_cursor(self, *_: object) -> None:
        """Take the cursor and its read-out away."""
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
            self.hide_cursor()
        else:
            # Not the base class's: it would scroll the scene.
            event.ignore()

    def _recolor(self) -> None:
        tokens = theme.current()
        self.setBackground(tokens.panel)
        for axis in (self._left, self._bottom):
            axis.setTextPen(tokens.mute)
            axis.setTickFont(theme.font(theme.SECTION_PX))
            axis.label.setFont(theme.font(theme.SECTION_PX))
            axis.picture = None
        self._cursor.setPen(pg.mkPen(tokens.mute, width=1))
        self._position.setPen(pg.mkPen(tokens.accent, width=2))
        self.schedule()


def _thinned(xs: Floats, low: float, high: float, columns: int) -> Floats:
    """Those between low and high, at most one in a column."""
    xs = xs[(xs >= low) & (xs <= high)]
    if len(xs) > columns:
        places = ((xs - low) / max(high - low, 1e-300) * columns).astype(int)
        xs = xs[np.unique(places, return_index=True)[1]]
    return xs
