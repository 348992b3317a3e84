"""A small line in a cell of a table: how one number went."""

from __future__ import annotations

import math

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from widgets import theme

VALUES_ROLE = int(Qt.ItemDataRole.UserRole) + 1
WIDTH = 72


class SparklineDelegate(QStyledItemDelegate):
    """Draws the numbers that an item has under ``VALUES_ROLE``, on a logarithmic axis; what has no logarithm
    leaves a gap."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        values = index.data(VALUES_ROLE) or []
        area = QRectF(option.rect).adjusted(6, 6, -6, -6)  # type: ignore[attr-defined]
        logs = [math.log10(value) if value > 0 and math.isfinite(value) else math.nan for value in values]
        known = [value for value in logs if not math.isnan(value)]
        if not known or area.width() < 4:
            return
        low, high = min(known), max(known)
        if high - low < 0.2:  # a line that hardly moves is drawn level
            low, high = low - 0.5, high + 0.5
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.current().accent), 1.4))
        piece = QPolygonF()
        for place, value in enumerate([*logs, math.nan]):
            if math.isnan(value):
                if piece.size() == 1:
                    painter.drawPoint(piece.at(0))
                painter.drawPolyline(piece)
                piece = QPolygonF()
                continue
            x = area.left() + area.width() * place / max(len(logs) - 1, 1)
            piece.append(QPointF(x, area.bottom() - area.height() * (value - low) / (high - low)))
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(WIDTH, super().sizeHint(option, index).height())
