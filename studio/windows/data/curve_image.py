"""A sequence as a small image: a curve for each of its values over the steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from widgets import theme

_EDGE = 3.0


def curve_pixmap(values: np.ndarray[Any, Any], side: int, scale: float = 2.0) -> QPixmap:
    """The curves of [steps, values] in a square of ``side`` pixels, all on one axis; NaN and infinite values
    leave a gap."""
    pixmap = QPixmap(round(side * scale), round(side * scale))
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return pixmap
    low, high = float(finite.min()), float(finite.max())
    height = (side - 2 * _EDGE) / ((high - low) or 1.0)
    wide = (side - 2 * _EDGE) / max(len(values) - 1, 1)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for number, column in enumerate(values.T):
        painter.setPen(QPen(QColor(theme.run_color(number)), 1.3))
        piece = QPolygonF()
        for step, value in enumerate([*column.tolist(), np.nan]):
            if np.isfinite(value):
                piece.append(QPointF(_EDGE + step * wide, side - _EDGE - (value - low) * height))
                continue
            if piece.size() == 1:
                painter.drawPoint(piece.at(0))
            painter.drawPolyline(piece)
            piece = QPolygonF()
    painter.end()
    return pixmap
