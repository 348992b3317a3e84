"""The legend of a colour scale: a gradient with the values at its ends, or a mark for each category."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter

from widgets import theme
from widgets.diagram.color_scale import ColorScale

LEGEND_HIGH = 18.0
_BAR_WIDE, _BAR_HIGH, _DOT, _LONGEST = 96.0, 8.0, 8.0, 120.0
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def paint_legend(painter: QPainter, area: QRectF, colors: ColorScale) -> None:
    """Paint it from the left of ``area``; categories that there is no room for are counted."""
    column, scale = colors.column, colors.scale
    if column is None or scale is None:
        return
    painter.save()
    painter.setFont(theme.font(theme.SECTION_PX))
    pen = _Pen(painter, area)
    pen.write(column.title, theme.current().mute)
    shown = colors.colors()[:-1]
    if column.is_categorical:
        for place, label in enumerate(column.labels):
            color = shown[place] if len(column.labels) <= len(shown) else None
            if pen.x + _DOT + 60 > area.right() or color is None:
                pen.write(f"+{theme.format_number(len(column.labels) - place)}", theme.current().mute)
                break
            pen.dot(color)
            pen.write(label, theme.current().text)
    elif column.known().any():
        ends = [column.words(scale.value(unit)) for unit in (0.0, 1.0)]
        values = column.distinct()
        if len(values) == 1:
            ends = [column.words(float(values[0]))] * 2
        pen.write(ends[0], theme.current().text)
        pen.gradient(shown)
        pen.write(ends[1], theme.current().text)
    painter.restore()


class _Pen:
    """Writes from left to right."""

    def __init__(self, painter: QPainter, area: QRectF) -> None:
        self._painter, self._area, self.x = painter, area, area.left()

    def write(self, words: str, color: str) -> None:
        metrics = QFontMetricsF(self._painter.font())
        room = min(_LONGEST, self._area.right() - self.x)
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        self._painter.setPen(QColor(color))
        self._painter.drawText(QRectF(self.x, self._area.top(), room + 1, LEGEND_HIGH), _LEFT, shown)
        self.x += metrics.horizontalAdvance(shown) + theme.SPACE_S

    def dot(self, color: QColor) -> None:
        self._fill(QRectF(self.x, self._area.top() + (LEGEND_HIGH - _DOT) / 2, _DOT, _DOT), color)
        self.x += _DOT + theme.SPACE_XS

    def gradient(self, shown: list[QColor]) -> None:
        box = QRectF(self.x, self._area.top() + (LEGEND_HIGH - _BAR_HIGH) / 2, _BAR_WIDE, _BAR_HIGH)
        fill = QLinearGradient(QPointF(box.left(), 0), QPointF(box.right(), 0))
        for place, color in enumerate(shown):
            fill.setColorAt(place / max(1, len(shown) - 1), color)
        self._fill(box, fill)
        self.x += _BAR_WIDE + theme.SPACE_S

    def _fill(self, box: QRectF, brush: QColor | QLinearGradient) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(brush)
        self._painter.drawRoundedRect(box, 2, 2)
