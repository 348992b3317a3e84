"""Shapes of boxes and their signs: each kind and phase can be recognized without colour."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainterPath, QPolygonF

from widgets.program_diagram.scene import BRANCH, LINE, LOOP, MORE, PREFIX, VALUE

SIGN = 12.0  # size of a sign in pixels at zoom 1
TOGGLE = 14.0  # of the square with + or − that opens and closes a group
PAD = 6.0
RADIUS = 6.0
TITLE_HIGH = 28.0  # the title bar of a frame
TEXT_HIGH = 44.0  # of a box with room for a picture
_CUT = 8.0


def outline(kind: int, box: QRectF) -> QPainterPath:
    """The border of a closed box: round, pill-shaped for a loop or a value, with cut corners for a branch."""
    path = QPainterPath()
    if kind in (VALUE, LOOP):
        radius = min(box.height(), box.width(), TEXT_HIGH) / 2  # not of the picture below the texts
        path.addRoundedRect(box, radius, radius)
    elif kind == BRANCH:
        cut = min(_CUT, box.height() / 3, box.width() / 3)
        left, top, right, bottom = box.left(), box.top(), box.right(), box.bottom()
        corners = [(left + cut, top), (right - cut, top), (right, top + cut), (right, bottom - cut)]
        corners += [(right - cut, bottom), (left + cut, bottom), (left, bottom - cut), (left, top + cut)]
        path.addPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
        path.closeSubpath()
    else:
        path.addRoundedRect(box, RADIUS, RADIUS)
    return path


def inset(kind: int, box: QRectF) -> float:
    """How far the text of a closed box stays away from its left and right sides."""
    return PAD + (min(box.height() / 6, 5.0) if kind in (VALUE, LOOP) else 0.0)


def pen_style(kind: int) -> Qt.PenStyle:
    """How the border of a closed box is drawn."""
    styles = {
        MORE: Qt.PenStyle.DashLine,
        PREFIX: Qt.PenStyle.DotLine,
        LINE: Qt.PenStyle.DashDotLine,
    }
    return styles.get(kind, Qt.PenStyle.SolidLine)


@cache
def sign(kind: int) -> QPainterPath | None:
    """The sign of a kind in a square of ``SIGN``, as lines; None for operators, layers and values."""
    path = QPainterPath()
    if kind == LOOP:  # an arrow round
        path.arcMoveTo(QRectF(1, 1, 10, 10), 30)
        path.arcTo(QRectF(1, 1, 10, 10), 30, 290)
        path.moveTo(11, 0.5)
        path.lineTo(10.6, 3.6)
        path.lineTo(7.4, 3.4)
    elif kind == BRANCH:  # a fork
        path.moveTo(6, 12)
        path.lineTo(6, 7)
        path.lineTo(2, 3.5)
        path.lineTo(2, 0.5)
        path.moveTo(6, 7)
        path.lineTo(10, 3.5)
        path.lineTo(10, 0.5)
    elif kind == LINE:  # <>
        for side in (-1, 1):
            path.moveTo(6 + side * 2, 2)
            path.lineTo(6 + side * 5.5, 6)
            path.lineTo(6 + side * 2, 10)
    elif kind == PREFIX:  # a label
        path.addPolygon(
            QPolygonF([QPointF(*at) for at in ((0.5, 2.5), (7, 2.5), (11.5, 6), (7, 9.5), (0.5, 9.5))])
        )
        path.closeSubpath()
        path.addEllipse(QPointF(3.5, 6), 0.8, 0.8)
    elif kind == MORE:
        for place in (2, 6, 10):
            path.addEllipse(QPointF(place, 6), 0.9, 0.9)
    else:
        return None
    return path


@cache
def phase_sign(phase: int) -> QPainterPath | None:
    """The sign of a phase in a square of ``SIGN``: ∇ for backward, a step for an update; none for forward."""
    path = QPainterPath()
    if phase == 1:
        path.addPolygon(QPolygonF([QPointF(1, 2), QPointF(11, 2), QPointF(6, 10.5)]))
        path.closeSubpath()
    elif phase == 2:
        path.moveTo(1, 10.5)
        path.lineTo(5, 10.5)
        path.lineTo(5, 6)
        path.lineTo(9, 6)
        path.lineTo(9, 1.5)
        path.moveTo(6.8, 3.8)
        path.lineTo(9, 1.2)
        path.lineTo(11.2, 3.8)
    else:
        return None
    return path


def text_high(box: QRectF) -> float:
    """How far from its top a closed box has its texts; below them a high box has room for a picture."""
    return TEXT_HIGH if box.height() >= 2 * TEXT_HIGH else box.height()


def phase_badge(box: QRectF) -> QRectF:
    """Where the sign of a phase is: over the right upper corner of a box."""
    size = SIGN + 4.0
    return QRectF(box.right() - size + 5.0, box.top() - size / 2, size, size)


def toggle(box: QRectF, opened: bool) -> QPainterPath:
    """A square with − in an opened group and + in a closed one."""
    path, middle, arm = QPainterPath(), box.center(), box.width() / 2 - 3.5
    path.addRoundedRect(box, 3, 3)
    path.moveTo(middle.x() - arm, middle.y())
    path.lineTo(middle.x() + arm, middle.y())
    if not opened:
        path.moveTo(middle.x(), middle.y() - arm)
        path.lineTo(middle.x(), middle.y() + arm)
    return path


def toggle_box(kind: int, box: QRectF, opened: bool) -> QRectF:
    """Where the square of a group is."""
    away = PAD if opened else inset(kind, box)
    high = min(TITLE_HIGH, box.height()) if opened else text_high(box)
    return QRectF(box.left() + away, box.top() + (high - TOGGLE) / 2, TOGGLE, TOGGLE)
