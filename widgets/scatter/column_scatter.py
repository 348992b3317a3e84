"""ColumnScatter: two columns of many rows as points, coloured by a third, with the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from widgets import theme
from widgets.diagram import ColorScale, Column, Diagram, Layer, Scale, paint_legend
from widgets.scatter.grid import LEFT, TITLE, paint_grid
from widgets.scatter.lasso import in_polygon, in_rectangle
from widgets.scatter.pareto import pareto_front

LEGEND, FOOT, RIGHT = 22.0, 36.0, 16.0
RADIUS, CHOSEN_RADIUS, NEAR, CLICK = 3.5, 5.0, 10.0, 4.0
MOST_RINGS = 300
MARGIN = 0.05  # of the range of an axis that is free at its ends


class ColumnScatter(Diagram):
    """A point for each row with a value of both columns.

    Drag to select the points in a rectangle, with Shift to draw the area by hand, with Ctrl to add to the
    selection; click a point for its row, with Ctrl to select a further one; Escape selects nothing. The
    arrow keys move along the points from left to right, and Return clicks.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._x = self._y = Column.of("", [])
        self._colors = ColorScale()
        self._log = (False, False)
        self._front: NDArray[np.int64] = np.zeros(0, np.int64)
        self._show_front = False
        self._layer = Layer(self)
        self._layer.advanced.connect(self.update)
        self._stale = True
        self._points: NDArray[np.float64] = np.zeros((0, 2))
        self._pointed: int | None = None
        self._area: list[QPointF] = []
        self._by_hand = False
        self.describe()

    def set_data(
        self,
        keys: Sequence[str],
        names: Sequence[str],
        x: Column,
        y: Column,
        color: Column | None = None,
        log: tuple[bool, bool] = (False, False),
        front: bool = False,
    ) -> None:
        """Show ``y`` over ``x``. Raises ValueError where the lengths differ.

        Args:
            log: whether each axis is logarithmic; points that are not positive are not on such an axis.
            front: whether the Pareto front is drawn; each column says by ``better`` what is better of it.
        """
        self._set_rows(keys, names, [x, y, *([] if color is None else [color])])
        self._x, self._y, self._log, self._show_front = x, y, log, front
        self._colors = ColorScale(color)
        self._front = np.zeros(0, np.int64)
        if front and x.better and y.better:
            self._front = pareto_front(x.values, y.values, x.better == "more", y.better == "more")
        self._pointed, self._area = None, []
        self.describe()
        self.refresh()

    def front(self) -> list[str]:
        """The keys of the rows on the Pareto front, from the best x to the best y."""
        return [self._keys[row] for row in self._front.tolist()]

    # ----- where things are -----

    def _plot(self, size: QSize) -> QRectF:
        return QRectF(QPointF(0, 0), QSizeF(size)).adjusted(LEFT, LEGEND + TITLE, -RIGHT, -FOOT)

    def _scales(self) -> tuple[Scale, Scale]:
        return Scale.of(self._x, self._log[0], margin=MARGIN), Scale.of(self._y, self._log[1], margin=MARGIN)

    def _places(self, size: QSize) -> NDArray[np.float64]:
        area, (across, up) = self._plot(size), self._scales()
        xs, ys = across.unit(self._x.values), up.unit(self._y.values)
        places = np.stack([area.left() + xs * area.width(), area.bottom() - ys * area.height()], axis=1)
        places[np.isnan(places).any(axis=1)] = np.nan
        return places

    def places(self) -> NDArray[np.float64]:
        """Where the points are in the widget, [rows, 2] in pixels; NaN for a row without a value."""
        if self._stale:
            self._points = self._places(self.size())
        return self._points

    # ----- painting -----

    def refresh(self) -> None:
        self._stale = True
        self._layer.stop()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.refresh()
        super().resizeEvent(event)

    def selection_shown(self) -> None:
        super().selection_shown()
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(480, 320)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 180)

    def _dots(self, ratio: float) -> list[QPixmap]:
        """A mark for each colour, and one for rows that are not selected."""
        tokens = theme.current()
        faint = theme.mix(tokens.panel, tokens.mute, 0.35)
        colors = [*self._colors.colors(), faint]
        return [_dot(color, RADIUS if color is not faint else RADIUS - 0.5, ratio) for color in colors]

    def _marks(self, size: QSize) -> tuple[list[tuple[float, float]], list[int]]:
        """Points in the order in which they are painted, those in colour last, with the mark of each."""
        places = self.places() if size == self.size() else self._places(size)
        codes = self._colors.codes()
        marks = codes if len(codes) else np.zeros(len(places), np.int64)
        marks = np.where(self.highlighted(), marks, len(self._colors.colors()))
        shown = np.flatnonzero(~np.isnan(places[:, 0]))
        shown = shown[np.argsort(self.highlighted()[shown], kind="stable")]
        return [(x, y) for x, y in places[shown].tolist()], marks[shown].tolist()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not np.isfinite(self.places()).any():
            painter.setPen(QColor(theme.current().mute))
            painter.drawText(
                self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.summary()
            )
            return
        ratio = self.devicePixelRatioF()
        if self._stale:
            dots, (points, marks) = self._dots(ratio), self._marks(self.size())

            def draw(on: QPainter, start: int, stop: int) -> None:
                for (x, y), mark in zip(points[start:stop], marks[start:stop], strict=True):
                    dot = dots[mark]
                    half = dot.width() / ratio / 2
                    on.drawPixmap(QPointF(x - half, y - half), dot)

            self._layer.begin(self.size(), ratio, len(points), draw)
            self._stale = False
        self._paint_axes(painter, self.size())
        painter.drawPixmap(0, 0, self._layer.pixmap)
        self._paint_front(painter, self.places())
        self._paint_pointer(painter)

    def paint_on(self, painter: QPainter, size: QSize) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_axes(painter, size)
        tokens = theme.current()
        colors = [*self._colors.colors(), theme.mix(tokens.panel, tokens.mute, 0.35)]
        painter.setPen(Qt.PenStyle.NoPen)
        for (x, y), mark in zip(*self._marks(size), strict=True):
            painter.setBrush(colors[mark])
            painter.drawEllipse(QPointF(x, y), RADIUS, RADIUS)
        self._paint_front(painter, self._places(size))

    def _paint_axes(self, painter: QPainter, size: QSize) -> None:
        head = QRectF(theme.SPACE_S, 0, size.width() - 2 * theme.SPACE_S, LEGEND)
        paint_legend(painter, head, self._colors)
        painter.setFont(self.font())
        across, up = self._scales()
        titles = self._title_of(self._x, across), self._title_of(self._y, up)
        paint_grid(
            painter,
            self._plot(size),
            QRectF(QPointF(0, 0), QSizeF(size)),
            (self._x, across),
            (self._y, up),
            titles,
        )

    def _title_of(self, column: Column, scale: Scale) -> str:
        words = self.tr("{0} (logarithmic)").format(column.title) if scale.log else column.title
        if self._show_front and column.better:
            better = (
                self.tr("{0}, more is better") if column.better == "more" else self.tr("{0}, less is better")
            )
            words = better.format(words)
        return words

    def _paint_front(self, painter: QPainter, places: NDArray[np.float64]) -> None:
        """The front as stairs: what is behind them is beaten by a point on it."""
        corners = [(x, y) for x, y in places[self._front].tolist() if x == x]
        if not corners:
            return
        tokens = theme.current()
        steps: list[QPointF] = []
        for x, y in corners:
            if steps:
                steps.append(QPointF(x, steps[-1].y()))  # up to x, the y of the point before is the best
            steps.append(QPointF(x, y))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(tokens.text), 1.4, Qt.PenStyle.DashLine))
        painter.drawPolyline(QPolygonF(steps))
        painter.setPen(QPen(QColor(tokens.text), 1.4))
        for x, y in corners[:MOST_RINGS]:
            painter.drawEllipse(QPointF(x, y), CHOSEN_RADIUS, CHOSEN_RADIUS)

    def _paint_pointer(self, painter: QPainter) -> None:
        tokens = theme.current()
        for row in (self.current_row(), self._pointed):
            if row is None or np.isnan(self.places()[row, 0]):
                continue
            x, y = self.places()[row].tolist()
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens.text), 2))
            painter.drawEllipse(QPointF(x, y), CHOSEN_RADIUS + 1, CHOSEN_RADIUS + 1)
        if len(self._area) > 1:
            fill = QColor(tokens.accent)
            fill.setAlphaF(0.15)
            painter.setBrush(fill)
            painter.setPen(QPen(QColor(tokens.accent), 1))
            if self._by_hand:
                painter.drawPolygon(QPolygonF(self._area))
            else:
                painter.drawRect(QRectF(self._area[0], self._area[-1]).normalized())

    # ----- words -----

    def title(self) -> str:
        return self.tr("Scatter plot")

    def summary(self) -> str:
        if not self._keys:
            return self.tr("No runs yet")
        shown = int((~np.isnan(self.places()[:, 0])).sum())
        if not shown:
            return self.tr("No run has both {0} and {1}").format(self._x.title, self._y.title)
        words = self.tr("{0} over {1}: {2} points").format(
            self._y.title, self._x.title, theme.format_number(shown)
        )
        if shown < len(self._keys):
            missing = theme.format_number(len(self._keys) - shown)
            words += "\n" + self.tr("Rows without a value: {0}").format(missing)
        if self._colors.column is not None:
            words += "\n" + self.tr("Coloured by {0}").format(self._colors.column.title)
        if len(self._front):
            best = [self._names[row] for row in self._front.tolist()[:20]]
            words += "\n" + self.tr("On the Pareto front: {0}").format(", ".join(best))
        return words

    # ----- pointer and keyboard -----

    def nearest(self, at: QPointF) -> int | None:
        """The row whose point is nearest to a place; None where none is near."""
        places = self.places()
        distances = np.nan_to_num(np.hypot(places[:, 0] - at.x(), places[:, 1] - at.y()), nan=np.inf)
        if not len(distances):
            return None
        if self._chosen.any():  # of points on each other the selected one
            distances = distances + np.where(self._chosen, 0.0, 0.25)
        found = int(distances.argmin())
        return found if distances[found] <= NEAR else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._keys:
            self._area = [event.position()]
            self._by_hand = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if not self._area:
            self._point_at(at)
            return
        if len(self._area) > 1 or (at - self._area[0]).manhattanLength() > CLICK:
            self._pointed = None
            self._area = [*self._area, at] if self._by_hand else [self._area[0], at]
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        area, self._area = self._area, []
        if event.button() != Qt.MouseButton.LeftButton or not area:
            super().mouseReleaseEvent(event)
            return
        adds = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if len(area) == 1:
            found = self.nearest(event.position())
            if found is not None and adds:
                self._toggle(found)
            elif found is not None:
                self.row_clicked.emit(self._keys[found])
            elif not adds:
                self.clear_selection()
            return
        corners = [(each.x(), each.y()) for each in area]
        if self._by_hand:
            inside = in_polygon(self.places(), corners)
        else:
            inside = in_rectangle(self.places(), corners[0], corners[-1])
        self._select(inside | self._chosen if adds else inside)
        self.update()

    def _toggle(self, row: int) -> None:
        """Add a row to the selection, or remove it; the row that was clicked before is in it already."""
        marked = self.current_row()
        chosen = self._chosen if marked is None or self._chosen.any() else self._mask([self._marked])
        there = np.arange(len(self._keys)) == row
        self._select(chosen | there if row == marked and not self._chosen.any() else chosen ^ there)

    def _point_at(self, at: QPointF) -> None:
        pointed = self.nearest(at)
        if pointed != self._pointed:
            self._point(pointed)
        shape = Qt.CursorShape.ArrowCursor if pointed is None else Qt.CursorShape.PointingHandCursor
        self.setCursor(shape)
        if pointed is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.mapToGlobal(at.toPoint()), self.words_of(pointed), self)

    def words_of(self, row: int) -> str:
        """What is shown of a row, as rich text."""
        extra = [] if self._colors.column is None else [self._colors.column]
        return self.row_text(row, [self._x, self._y, *extra])

    def _point(self, row: int | None) -> None:
        self._pointed = row
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._point(None)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        places = self.places()
        order = np.lexsort((places[:, 1], places[:, 0]))
        order = order[~np.isnan(places[order, 0])].tolist()
        key = event.key()
        if key == Qt.Key.Key_Escape and self._chosen.any():
            self.clear_selection()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and order:
            step = 1 if key == Qt.Key.Key_Right else -1
            if self._pointed is None:
                place = 0 if step > 0 else len(order) - 1
            else:
                place = min(max(order.index(self._pointed) + step, 0), len(order) - 1)
            self._point(order[place])
            values = (self._names[order[place]], self._x.text_of(order[place]), self._y.text_of(order[place]))
            self.setAccessibleDescription(", ".join(values))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._pointed is not None:
            self.row_clicked.emit(self._keys[self._pointed])
        else:
            super().keyPressEvent(event)


def _dot(color: QColor, radius: float, ratio: float) -> QPixmap:
    side = round((2 * radius + 2) * ratio)
    dot = QPixmap(side, side)
    dot.setDevicePixelRatio(ratio)
    dot.fill(Qt.GlobalColor.transparent)
    painter = QPainter(dot)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(QPointF(dot.width() / ratio / 2, dot.height() / ratio / 2), radius, radius)
    painter.end()
    return dot
