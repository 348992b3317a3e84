"""The axes of a scatter plot of columns: grid lines, numbers and titles."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from widgets import theme
from widgets.diagram import Column, Scale

LEFT, TITLE = 64.0, 22.0
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_ELIDE = Qt.TextElideMode.ElideRight


def paint_grid(
    painter: QPainter,
    area: QRectF,
    whole: QRectF,
    x: tuple[Column, Scale],
    y: tuple[Column, Scale],
    titles: tuple[str, str],
) -> None:
    """Paint the axes around ``area``: numbers at the left and below, the title of y above it.

    Args:
        titles: of x and of y.
    """
    tokens = theme.current()
    metrics = QFontMetricsF(painter.font())
    line = metrics.height()
    free = whole.left() - 1
    for unit, words in x[1].ticks(x[0], int(area.width() / 90)):
        at = area.left() + unit * area.width()
        painter.setPen(QColor(tokens.line))
        painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()))
        words = metrics.elidedText(words, _ELIDE, 110)
        wide = metrics.horizontalAdvance(words)
        if at - wide / 2 > free:
            painter.setPen(QColor(tokens.mute))
            painter.drawText(QPointF(at - wide / 2, area.bottom() + line), words)
            free = at + wide / 2 + theme.SPACE_S
    free = whole.bottom() + 1
    for unit, words in y[1].ticks(y[0], int(area.height() / 40)):
        at = area.bottom() - unit * area.height()
        painter.setPen(QColor(tokens.line))
        painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))
        words = metrics.elidedText(words, _ELIDE, area.left() - 10)
        if at + line / 2 < free:
            painter.setPen(QColor(tokens.mute))
            box = QRectF(whole.left(), at - line / 2, area.left() - 6, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | _MIDDLE, words)
            free = at - line / 2
    painter.setPen(QColor(tokens.text))
    below = QRectF(area.left(), whole.bottom() - line - 2, area.width(), line + 2)
    words = metrics.elidedText(titles[0], _ELIDE, below.width())
    painter.drawText(below, Qt.AlignmentFlag.AlignCenter, words)
    above = QRectF(theme.SPACE_S, area.top() - TITLE, whole.width() - theme.SPACE_S, line)
    words = metrics.elidedText(titles[1], _ELIDE, above.width())
    painter.drawText(above, Qt.AlignmentFlag.AlignLeft | _MIDDLE, words)
