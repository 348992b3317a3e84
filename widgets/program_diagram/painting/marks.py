"""Marks at the corner of a box, each with a shape and a character, never by colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from widgets import theme

Mark = Literal[
    "breakpoint", "breakpoint_off", "current", "added", "removed", "changed", "moved", "alert", "found"
]
MARKS: tuple[Mark, ...] = get_args(Mark)
MARK_SIZE = 14.0
_COLORS = {
    "breakpoint": "bad",
    "breakpoint_off": "bad",
    "current": "accent",
    "added": "ok",
    "removed": "bad",
    "changed": "warn",
    "moved": "accent",
    "alert": "warn",
    "found": "accent",
}
_CHARACTERS = {"added": "+", "removed": "−", "changed": "≠", "moved": "↕", "alert": "!", "found": ""}


def check_marks(marks: Mapping[int, tuple[str, ...]]) -> None:
    """Raise ValueError for a mark that there is no drawing of."""
    unknown = {mark for each in marks.values() for mark in each} - set(MARKS)
    if unknown:
        raise ValueError(f"set_marks: unknown mark: {min(unknown)!r}; use one of {', '.join(MARKS)}")


def mark_color(mark: str) -> QColor:
    """The colour of a mark in the theme that holds now."""
    return QColor(getattr(theme.current(), _COLORS[mark]))


def paint_mark(painter: QPainter, mark: str, at: QPointF, size: float = MARK_SIZE) -> None:
    """Paint a mark with its middle at a point."""
    color, half = mark_color(mark), size / 2
    box = QRectF(at.x() - half, at.y() - half, size, size)
    ring = QPen(QColor(theme.current().panel), max(1.0, size / 9))
    painter.setPen(ring)
    painter.setBrush(color)
    if mark == "breakpoint":
        painter.drawEllipse(box)
    elif mark == "breakpoint_off":
        painter.setBrush(QColor(theme.current().panel))
        painter.setPen(QPen(color, size / 6))
        painter.drawEllipse(box.adjusted(size / 8, size / 8, -size / 8, -size / 8))
    elif mark == "current":
        corners = [(-0.5, -0.5), (0.1, -0.5), (0.55, 0.0), (0.1, 0.5), (-0.5, 0.5)]
        painter.drawPolygon(_polygon(at, size, corners))
    elif mark == "alert":
        painter.drawPolygon(_polygon(at, size * 1.1, [(0.0, -0.5), (0.55, 0.45), (-0.55, 0.45)]))
    elif mark == "changed":
        painter.drawPolygon(_polygon(at, size * 1.25, [(0, -0.5), (0.5, 0), (0, 0.5), (-0.5, 0)]))
    elif mark == "found":
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, size / 6))
        circle = QRectF(box.left() + size * 0.05, box.top() + size * 0.05, size * 0.6, size * 0.6)
        painter.drawEllipse(circle)
        painter.drawLine(circle.center() + QPointF(size * 0.22, size * 0.22), box.bottomRight())
    else:
        painter.drawRoundedRect(box, size / 5, size / 5)
    character = _CHARACTERS.get(mark)
    if character and size >= 8:
        font = theme.font(theme.SECTION_PX, bold=True)
        font.setPixelSize(max(6, round(size * 0.78)))
        painter.setFont(font)
        painter.setPen(theme.ink_on(color))
        room = box.adjusted(-4, 2 if mark == "alert" else -2, 4, 2)
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, character)


def _polygon(at: QPointF, size: float, corners: list[tuple[float, float]]) -> QPolygonF:
    return QPolygonF([QPointF(at.x() + x * size, at.y() + y * size) for x, y in corners])
