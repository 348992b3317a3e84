"""How parallel coordinates are drawn: lines, axes with their numbers, brushes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from resources.quantities import NOTHING
from widgets import theme
from widgets.diagram import ColorScale, paint_legend
from widgets.parallel.axes import HEAD, LEFT, LEGEND, Axis, Layout

BRUSH_WIDE = 12.0
_CENTER = Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | _CENTER


class Lines:
    """The lines of rows over the axes of a layout, built when they are first drawn."""

    def __init__(self, layout: Layout) -> None:
        self._xs = layout.xs.tolist()
        self.ys: NDArray[np.float64] = layout.ys()
        self._rows = self.ys.tolist()
        self._lines: list[QPolygonF | None] = [None] * len(self._rows)

    def line(self, row: int) -> QPolygonF:
        """The line of a row."""
        found = self._lines[row]
        if found is None:
            points = [QPointF(x, y) for x, y in zip(self._xs, self._rows[row], strict=True)]
            if len(points) == 1:  # with one axis a row is a short mark at its left: numbers are at its right
                points = [points[0] - QPointF(10, 0), points[0]]
            found = self._lines[row] = QPolygonF(points)
        return found

    def draw(self, painter: QPainter, rows: Sequence[int], color: QColor) -> None:
        """Draw some rows in one colour. It is opaque: a painter takes ten times as long to blend lines."""
        painter.setPen(QPen(color, 1))
        for row in rows:
            painter.drawPolyline(self.line(row))

    def draw_colored(
        self, painter: QPainter, rows: Sequence[int], codes: Sequence[int], colors: Sequence[QColor]
    ) -> None:
        """Draw rows, each in the colour of its code."""
        last = -1
        for row in rows:
            code = codes[row] if codes else 0
            if code != last:
                painter.setPen(QPen(colors[code], 1))
                last = code
            painter.drawPolyline(self.line(row))

    def nearest(self, layout: Layout, at: QPointF, rows: NDArray[np.bool_], most: float) -> int | None:
        """The row whose line is nearest above or below a place, among some; None where none is within
        ``most`` pixels."""
        xs, ys = layout.xs, self.ys
        if not len(ys) or not len(xs) or not rows.any():
            return None
        x = at.x()
        if len(xs) == 1:
            heights = ys[:, 0]
        else:
            left = min(max(int(np.searchsorted(xs, x)) - 1, 0), len(xs) - 2)
            share = min(max((x - xs[left]) / (xs[left + 1] - xs[left]), 0.0), 1.0)
            heights = ys[:, left] * (1 - share) + ys[:, left + 1] * share
        distances = np.where(rows, np.abs(heights - at.y()), np.inf)
        found = int(distances.argmin())
        return found if distances[found] <= most else None


def paint_axes(
    painter: QPainter,
    layout: Layout,
    colors: ColorScale,
    width: float,
    current: int | None = None,
    moved: float | None = None,
) -> None:
    """Draw legend, axes, titles and numbers.

    Args:
        current: the axis that the keyboard acts on, marked.
        moved: how far the current axis has been dragged.
    """
    tokens = theme.current()
    paint_legend(painter, QRectF(LEFT, 0, width - 2 * LEFT, LEGEND), colors)
    painter.setFont(theme.font(theme.SECTION_PX))
    metrics = QFontMetricsF(painter.font())
    for place, axis in enumerate(layout.axes):
        x = float(layout.xs[place])
        dragged = moved is not None and place == current
        if dragged and moved is not None:
            x += moved
        painter.setPen(QPen(QColor(tokens.accent if dragged else tokens.mute), 1))
        painter.drawLine(QPointF(x, layout.top), QPointF(x, layout.bottom))
        last = place == len(layout.axes) - 1
        room = (width - x if last else layout.spacing) - 6
        _paint_title(painter, metrics, axis, QRectF(x - 6, LEGEND, room, HEAD), place == current)
        if not dragged:
            _paint_numbers(painter, metrics, layout, axis, x, room)


def _paint_title(painter: QPainter, metrics: QFontMetricsF, axis: Axis, box: QRectF, current: bool) -> None:
    tokens = theme.current()
    marks = (" ↓" if axis.flipped else "") + (" log" if axis.scale.log else "")
    words = metrics.elidedText(
        axis.column.title, Qt.TextElideMode.ElideRight, box.width() - metrics.horizontalAdvance(marks)
    )
    painter.setPen(QColor(tokens.accent if current else tokens.text))
    painter.drawText(box, _LEFT, words)
    painter.setPen(QColor(tokens.mute))
    painter.drawText(box.adjusted(metrics.horizontalAdvance(words), 0, 0, 0), _LEFT, marks)


def _paint_numbers(
    painter: QPainter, metrics: QFontMetricsF, layout: Layout, axis: Axis, x: float, room: float
) -> None:
    """The numbers at the right of an axis, on a ground of their own so that lines don't cross them."""
    tokens = theme.current()
    line = metrics.height()
    marks = [(layout.y(unit), words) for unit, words in axis.scale.ticks(axis.column, int(layout.high / 44))]
    values = axis.column.values
    if layout.missing == layout.missing and np.isnan(axis.scale.unit(values)).any():
        marks.append((layout.missing, NOTHING))
        painter.setPen(QPen(QColor(tokens.mute), 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, layout.bottom + 3), QPointF(x, layout.missing))
    ground = QColor(tokens.panel)
    ground.setAlphaF(0.88)
    drawn: list[float] = []
    for y, words in marks:
        if any(abs(y - other) < line for other in drawn):
            # A mark only where there is no room for the number: next to one it reads as a minus.
            painter.setPen(QColor(tokens.mute))
            painter.drawLine(QPointF(x - 3, y), QPointF(x, y))
            continue
        painter.setPen(QColor(tokens.text))
        drawn.append(y)
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, max(12.0, min(room - 8, 110.0)))
        box = QRectF(x + 5, y - line / 2, metrics.horizontalAdvance(shown) + 2, line)
        # From the axis on: a piece of a line left of a number would read as a minus.
        painter.fillRect(box.adjusted(-4, 0, 0, 0), ground)
        painter.drawText(box, _LEFT, shown)


def paint_brushes(painter: QPainter, layout: Layout) -> None:
    """Draw the selected ranges."""
    tokens = theme.current()
    fill = QColor(tokens.accent)
    fill.setAlphaF(0.22)
    for place, axis in enumerate(layout.axes):
        units = axis.units()
        if units is None:
            continue
        x = float(layout.xs[place])
        top, bottom = layout.y(units[1]), layout.y(units[0])
        box = QRectF(x - BRUSH_WIDE / 2, top, BRUSH_WIDE, max(2.0, bottom - top))
        painter.setBrush(fill)
        painter.setPen(QPen(QColor(tokens.accent), 1))
        painter.drawRect(box)
        painter.setPen(QPen(QColor(tokens.accent), 2))
        for y in (box.top(), box.bottom()):
            painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
