"""Paints a cell: the dot of a run, an icon and a text, or small curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from widgets import theme
from widgets.column_table.cells import Cell
from widgets.column_table.model import ROLE
from widgets.icons import icon_pixmap

MARK, DOT, MARGIN = 12, 4, 6


@lru_cache(64)
def _icon(name: str, color: str, scale: float) -> QPixmap:
    return icon_pixmap(name, color, MARK, scale)


class CellPainting(QStyledItemDelegate):
    """Reads the ``Cell`` of an index and paints it on the ground of its row."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        tokens, cell = theme.current(), index.data(ROLE)
        box, state = QRect(option.rect), option.state  # type: ignore[attr-defined]
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        if chosen or state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, QColor(tokens.selection if chosen else tokens.hover))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(tokens.accent), 1))
            painter.drawRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5))
        if isinstance(cell, Cell):
            inner = box.adjusted(MARGIN, 0, -MARGIN, 0)
            if cell.lines:
                _paint_lines(painter, QRectF(inner).adjusted(0, 5, 0, -5), cell.lines)
            else:
                numeric = bool(
                    index.model().headerData(
                        index.column(), Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole
                    )
                    & Qt.AlignmentFlag.AlignRight
                )
                _paint_text(painter, inner, cell, numeric)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(80, theme.CONTROL_HEIGHT)


def _paint_text(painter: QPainter, inner: QRect, cell: Cell, numeric: bool) -> None:
    tokens = theme.current()
    if cell.color is not None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.run_color(cell.color)))
        painter.drawEllipse(QPointF(inner.left() + DOT, inner.center().y() + 0.5), DOT, DOT)
        inner.setLeft(inner.left() + 2 * DOT + MARGIN)
    if cell.mark:
        scale = painter.device().devicePixelRatioF()
        pixmap = _icon(cell.mark, getattr(tokens, cell.tint), scale)
        painter.drawPixmap(inner.left(), inner.center().y() - MARK // 2 + 1, pixmap)
        inner.setLeft(inner.left() + MARK + theme.SPACE_XS)
    painter.setFont(theme.font())
    painter.setPen(QColor(tokens.mute if cell.faint else tokens.text))
    text = painter.fontMetrics().elidedText(cell.text, Qt.TextElideMode.ElideRight, inner.width())
    side = Qt.AlignmentFlag.AlignRight if numeric else Qt.AlignmentFlag.AlignLeft
    painter.drawText(inner, side | Qt.AlignmentFlag.AlignVCenter, text)


def _paint_lines(painter: QPainter, area: QRectF, lines: Sequence[Sequence[float]]) -> None:
    """Curves on one logarithmic axis; values that have no logarithm leave a gap only alone."""
    tokens = theme.current()
    logs = [[math.log10(value) if 0 < value < math.inf else math.nan for value in line] for line in lines]
    known = [value for line in logs for value in line if value == value]
    if not known or area.width() < 4:
        return
    low, high = min(known), max(known)
    if high - low < 0.1:
        low, high = low - 0.3, high + 0.3
    colors = (tokens.mute, tokens.accent)[-len(logs) :] if len(logs) > 1 else (tokens.accent,)
    for line, color in zip(logs, colors, strict=False):
        points = QPolygonF()
        for place, value in enumerate(line):
            if value == value:
                x = area.left() + area.width() * place / max(len(line) - 1, 1)
                points.append(QPointF(x, area.bottom() - area.height() * (value - low) / (high - low)))
        painter.setPen(QPen(QColor(color), 1.3))
        if points.size() == 1:
            painter.setBrush(QColor(color))
            painter.drawEllipse(points.at(0), 1.5, 1.5)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        else:
            painter.drawPolyline(points)
