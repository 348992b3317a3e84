"""LegendStrip: a legend in one line, for a diagram with little height."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from widgets import theme
from widgets.program_diagram.painting.legend import SWATCH, Legend

_HIGH, _PAD, _GAP, _BAR = 22.0, 8.0, 6.0, (72.0, 8.0)
_SHARE = 0.66  # of the width of the screen, at most


class LegendStrip:
    """The title, the colours and the ends of the scale, in the left lower corner."""

    def __init__(self, legend: Legend, wide: float, high: float) -> None:
        self._legend, self._font = legend, theme.font(theme.SECTION_PX)
        self._metrics = QFontMetricsF(self._font)
        # Each part with its place: a text, a bar (True) or the swatch of a colour.
        self._parts: list[tuple[QRectF, str | bool | QColor]] = []
        self._left = theme.SPACE_S + _PAD
        self._top, self._end = high - _HIGH - theme.SPACE_S, max(_SHARE * wide, 120.0)
        self._lay_out()

    def _lay_out(self) -> None:
        legend = self._legend
        self._add_text(legend.title)
        ticks = legend.ticks()
        if ticks:
            if len(ticks) > 1:
                self._add_text(ticks[0][1])
            self._add(_BAR[0], True)
            self._add_text(ticks[-1][1])
        for color, words in legend.labels():
            if self._left + SWATCH + _GAP + self._metrics.horizontalAdvance(words) > self._end:
                self._add_text("…")
                break
            self._add(SWATCH, color)
            self._add_text(words)

    def _add(self, wide: float, part: str | bool | QColor) -> None:
        self._parts.append((QRectF(self._left, self._top, wide, _HIGH), part))
        self._left += wide + _GAP

    def _add_text(self, words: str) -> None:
        shown = self._metrics.elidedText(
            words, Qt.TextElideMode.ElideRight, max(40.0, self._end - self._left)
        )
        self._add(self._metrics.horizontalAdvance(shown) + 1.0, shown)

    def area(self) -> QRectF:
        """Where it is on the screen."""
        return QRectF(theme.SPACE_S, self._top, self._left - _GAP + _PAD - theme.SPACE_S, _HIGH)

    def paint(self, painter: QPainter) -> None:
        """Paint it."""
        tokens = theme.current()
        painter.setPen(QPen(theme.mix(tokens.line, tokens.mute, 0.3), 1.0))
        painter.setBrush(QColor(tokens.panel))
        painter.drawRoundedRect(self.area().adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setFont(self._font)
        for place, part in self._parts:
            middle = place.center().y()
            if isinstance(part, str):
                painter.setPen(QColor(tokens.text))
                painter.drawText(place.adjusted(0, 0, 2, 0), Qt.AlignmentFlag.AlignVCenter, part)
            elif isinstance(part, QColor):
                painter.setPen(QPen(theme.mix(tokens.line, tokens.mute, 0.6), 1.0))
                painter.setBrush(part)
                painter.drawRoundedRect(QRectF(place.left(), middle - SWATCH / 2, SWATCH, SWATCH), 2, 2)
            else:
                self._legend.paint_gradient(painter, QRectF(place.left(), middle - _BAR[1] / 2, *_BAR))
