"""A sequence as a small image: a curve for each of its values over the steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QLabel

from widgets import theme
from widgets.image_bytes import CopyMenu

_EDGE = 3.0


def curve_pixmap(values: np.ndarray[Any, Any], side: int, scale: float = 2.0) -> QPixmap:
    """The curves of [steps, values] in a square of ``side`` pixels, all on one axis; NaN and infinite values
    leave a gap."""
    pixmap = QPixmap(round(side * scale), round(side * scale))
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    draw_curves(painter, QRectF(0, 0, side, side), values)
    painter.end()
    return pixmap


class CurveLabel(QLabel):
    """A label with the curves of a sequence, in the colours of the theme that is used now."""

    def __init__(self, values: np.ndarray[Any, Any], side: int) -> None:
        super().__init__()
        CopyMenu(self)
        self._values, self._side = values, side
        self._draw()
        theme.changed.connect(self._draw)

    def _draw(self) -> None:
        self.setPixmap(curve_pixmap(self._values, self._side))


def draw_curves(painter: QPainter, box: QRectF, values: np.ndarray[Any, Any]) -> None:
    """Draw the curves of [steps, values] into ``box``, as ``curve_pixmap`` does."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return
    low, high = float(finite.min()), float(finite.max())
    inner = box.adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
    height = inner.height() / ((high - low) or 1.0)
    wide = inner.width() / max(len(values) - 1, 1)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for number, column in enumerate(values.T):
        painter.setPen(QPen(QColor(theme.run_color(number)), 1.3))
        piece = QPolygonF()
        for step, value in enumerate([*column.tolist(), np.nan]):
            if np.isfinite(value):
                piece.append(QPointF(inner.left() + step * wide, inner.bottom() - (value - low) * height))
                continue
            if piece.size() == 1:
                painter.drawPoint(piece.at(0))
            painter.drawPolyline(piece)
            piece = QPolygonF()
    painter.restore()
