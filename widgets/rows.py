"""How rows of lists show that they are chosen, pointed at, or have the keys."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QStyle

from widgets import theme


def paint_state(painter: QPainter, box: QRect, state: QStyle.StateFlag) -> None:
    """Draw the ground of a row that is chosen or pointed at, and the frame of one that has the keys."""
    tokens = theme.current()
    chosen = bool(state & QStyle.StateFlag.State_Selected)
    if chosen or state & QStyle.StateFlag.State_MouseOver:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.selection if chosen else tokens.hover))
        painter.drawRoundedRect(box, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
    if state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QPen(QColor(tokens.accent), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0, 0, -1, -1), theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
