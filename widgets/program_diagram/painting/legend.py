"""The legend of a diagram's values: title, colours, the scale, and the grey of what was not measured."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPen

from widgets import theme
from widgets.program_diagram.painting.look import look
from widgets.program_diagram.painting.values import NodeColors

SWATCH = 10.0
_BAR_WIDE, _BAR_HIGH, _PAD, _TICK = 190.0, 10.0, 8.0, 3.0
_MOST_LABELS = 8
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class Legend:
    """Painted into the left lower corner of a diagram."""

    def __init__(self, colors: NodeColors) -> None:
        self._colors = colors
        self._font = theme.font(theme.SECTION_PX)
        self._metrics = QFontMetricsF(self._font)
        self._line = self._metrics.height() + 2

    def _unmeasured(self) -> str:
        if not self._colors.some_unmeasured:
            return ""
        if self._colors.values.labels:
            return QCoreApplication.translate("ProgramDiagram", "No value")
        return QCoreApplication.translate("ProgramDiagram", "Not measured")

    @property
    def title(self) -> str:
        """What the values are."""
        return self._colors.values.title

    def labels(self) -> list[tuple[QColor, str]]:
        """Colours with a text each."""
        result = []
        colors = self._colors
        if colors.values.labels:
            shown = colors.scale.colors()[:-1]
            labels = colors.values.labels
            count = len(shown)
            result = [
                (shown[place * count // len(labels) if len(labels) > count else place], label)
                for place, label in enumerate(labels)
            ]
            if len(result) > _MOST_LABELS:
                more = f"+{theme.format_number(len(result) - _MOST_LABELS + 1)}"
                result = [*result[: _MOST_LABELS - 1], (result[-1][0], more)]
        if self._unmeasured():
            result.append((look().unmeasured.fill, self._unmeasured()))
        return result

    def ticks(self) -> list[tuple[float, str]]:
        """Positions on the bar with their values; of those that have no room for their texts, none."""
        column, scale = self._colors.column, self._colors.scale.scale
        if scale is None or not column.known().any():
            return []
        ends = [(unit, column.words(scale.value(unit))) for unit in (0.0, 1.0)]
        if float(column.distinct()[0]) == float(column.distinct()[-1]):
            return [(0.5, column.words(float(column.distinct()[0])))]
        inner = scale.ticks(column, 4)
        result = list(ends)
        for unit, words in inner:
            half = self._metrics.horizontalAdvance(words) / 2 + 4
            middle = unit * _BAR_WIDE
            if all(
                abs(middle - self._middle(other, text)) > half + self._metrics.horizontalAdvance(text) / 2
                for other, text in result
            ):
                result.append((unit, words))
        return sorted(result)

    def _middle(self, unit: float, words: str) -> float:
        half = self._metrics.horizontalAdvance(words) / 2
        return min(max(unit * _BAR_WIDE, half), _BAR_WIDE - half)

    def area(self, high: float) -> QRectF:
        """Where the legend is on a screen of a height."""
        rows = 1 + len(self.labels())
        tall = rows * self._line + (0.0 if self._colors.values.labels else _BAR_HIGH + self._line + _TICK + 2)
        tall += 2 * _PAD - 4
        return QRectF(theme.SPACE_S, high - tall - theme.SPACE_S, _BAR_WIDE + 2 * _PAD, tall)

    def paint(self, painter: QPainter, high: float) -> None:
        """Paint it."""
        tokens, area = theme.current(), self.area(high)
        ground = QColor(tokens.panel)
        painter.setPen(QPen(theme.mix(tokens.line, tokens.mute, 0.3), 1.0))
        painter.setBrush(ground)
        painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setFont(self._font)
        left, top = area.left() + _PAD, area.top() + _PAD - 2
        painter.setPen(QColor(tokens.text))
        title = self._metrics.elidedText(self._colors.values.title, Qt.TextElideMode.ElideRight, _BAR_WIDE)
        painter.drawText(QRectF(left, top, _BAR_WIDE, self._line), _LEFT, title)
        top += self._line
        if not self._colors.values.labels:
            self._paint_bar(painter, left, top)
            top += _BAR_HIGH + self._line + _TICK + 2
        for color, words in self.labels():
            swatch = QRectF(left, top + (self._line - SWATCH) / 2, SWATCH, SWATCH)
            painter.setPen(QPen(theme.mix(tokens.line, tokens.mute, 0.6), 1.0))
            painter.setBrush(color)
            painter.drawRoundedRect(swatch, 2, 2)
            painter.setPen(QColor(tokens.text))
            room = _BAR_WIDE - SWATCH - 6
            shown = self._metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRectF(left + SWATCH + 6, top, room, self._line), _LEFT, shown)
            top += self._line

    def paint_gradient(self, painter: QPainter, bar: QRectF) -> None:
        """Paint the colours of the scale."""
        shown = self._colors.scale.colors()[:-1]
        gradient = QLinearGradient(QPointF(bar.left(), 0), QPointF(bar.right(), 0))
        for place, color in enumerate(shown):
            gradient.setColorAt(place / max(1, len(shown) - 1), color)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(gradient)
        painter.drawRoundedRect(bar, 2, 2)

    def _paint_bar(self, painter: QPainter, left: float, top: float) -> None:
        tokens = theme.current()
        bar = QRectF(left, top, _BAR_WIDE, _BAR_HIGH)
        self.paint_gradient(painter, bar)
        for unit, words in self.ticks():
            x = left + min(max(unit * _BAR_WIDE, 0.5), _BAR_WIDE - 0.5)
            painter.setPen(QPen(QColor(tokens.mute), 1.0))
            painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + _TICK))
            middle, half = self._middle(unit, words), self._metrics.horizontalAdvance(words) / 2
            painter.setPen(QColor(tokens.text))
            place = QRectF(left + middle - half, bar.bottom() + _TICK, 2 * half + 2, self._line)
            painter.drawText(place, _LEFT, words)
