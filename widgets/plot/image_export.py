"""A plot as an image file: its title, what its curves are, and the chart; PNG or SVG."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from widgets import theme
from widgets.image_bytes import png_bytes, svg_bytes
from widgets.plot.chart import Chart
from widgets.plot.series import Series

MARGIN = 12.0
HEAD = 28.0
GAP = 18.0


def image_of(kind: str, title: str, series: Iterable[Series], chart: Chart) -> bytes:
    """``chart`` as it is drawn now, as a file. ``kind`` is png or svg."""
    shown = [one for one in series if one.visible and len(one)]
    size = chart.size() + QSize(round(2 * MARGIN), round(2 * MARGIN + HEAD))

    def paint(painter: QPainter) -> None:
        _paint(painter, QRectF(0, 0, size.width(), size.height()), title, shown, chart)

    return svg_bytes(size, title, paint) if kind == "svg" else png_bytes(size, paint)


def _paint(painter: QPainter, area: QRectF, title: str, shown: list[Series], chart: Chart) -> None:
    tokens = theme.current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(area, QColor(tokens.panel))
    middle = area.top() + MARGIN + HEAD / 2 - 4
    left = area.left() + MARGIN
    for words, font, color in (
        (title, theme.font(bold=True), None),
        *((one.label, theme.font(), one) for one in shown),
    ):
        if color is not None:
            pen = QPen(QColor(theme.run_color(color.color)), 2)
            if color.dashed:
                pen.setDashPattern([2, 2])
            painter.setPen(pen)
            painter.drawLine(QPointF(left, middle), QPointF(left + 16, middle))
            left += 22
        painter.setFont(font)
        painter.setPen(QColor(tokens.text))
        width = QFontMetricsF(font).horizontalAdvance(words)
        painter.drawText(QRectF(left, middle - 12, width + 4, 24), Qt.AlignmentFlag.AlignVCenter, words)
        left += width + GAP
    chart.hide_cursor()
    chart.render(painter, QRectF(MARGIN, MARGIN + HEAD, chart.width(), chart.height()), chart.rect())
