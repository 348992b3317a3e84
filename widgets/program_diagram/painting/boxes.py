"""Paints boxes and frames near enough to be read."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen, QStaticText

from widgets import theme
from widgets.program_diagram.painting import shapes
from widgets.program_diagram.painting.look import Look, Paint
from widgets.program_diagram.painting.marks import mark_color
from widgets.program_diagram.painting.texts import BoxTexts
from widgets.program_diagram.painting.values import NodeColors
from widgets.program_diagram.scene import GROUPS, MORE, Scene

TWO_LINES = 32.0  # height of a box from which its note has a line to itself
_GAP = 5.0
_TINTING = ("added", "removed", "changed", "moved")


@dataclass
class Shown:
    """What is painted: a scene, the colours and marks on it, and the prepared texts."""

    scene: Scene
    look: Look
    texts: BoxTexts
    colors: NodeColors | None
    marks: dict[int, tuple[str, ...]]  # by row

    def paint_of(self, row: int) -> Paint:
        """How a box is filled: by its value, else by what changed, else by its kind."""
        if self.colors is not None:
            return self.colors.paint(row)
        paint = self.look.kinds[int(self.scene.kinds[row])]
        changes = [mark for mark in self.marks.get(row, ()) if mark in _TINTING]
        return tinted(paint, mark_color(changes[0])) if changes else paint


def tinted(paint: Paint, color: QColor) -> Paint:
    """A box with the colour of a change."""
    fill = theme.mix(paint.fill.name(), color.name(), 0.22)
    return Paint(fill, theme.ink_on(fill), theme.ink_on(fill), color)


class BoxPainter:
    """Paints in the coordinates of the scene, onto a painter that is scaled to them."""

    def __init__(self, painter: QPainter, shown: Shown) -> None:
        self._painter, self._shown, self._scene = painter, shown, shown.scene
        self._fonts = shown.texts.fonts

    def frame(self, row: int, depth: int) -> None:
        """An opened group: its ground, its title bar and its toggle."""
        painter, look = self._painter, self._shown.look
        left, top, wide, high = self._scene.boxes[row].tolist()
        box = QRectF(left, top, wide, high)
        kind, phase = int(self._scene.kinds[row]), int(self._scene.phases[row])
        paint = self._shown.paint_of(row)
        painter.setPen(QPen(paint.border if self._shown.colors is None else look.frame_border, 1.2))
        painter.setBrush(look.frames[depth % len(look.frames)])
        painter.drawRoundedRect(box, shapes.RADIUS, shapes.RADIUS)
        bar = QRectF(left, top, wide, min(shapes.TITLE_HIGH, high))
        painter.save()
        painter.setClipRect(bar, Qt.ClipOperation.IntersectClip)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(paint.fill)
        painter.drawRoundedRect(box.adjusted(0.6, 0.6, -0.6, -0.6), shapes.RADIUS, shapes.RADIUS)
        painter.restore()
        at = self._toggle(kind, box, paint, opened=True)
        at = self._signs(kind, phase, at, bar, paint)
        right = bar.right() - shapes.PAD
        value = self._value(row, paint, right, bar.center().y(), bar.width() * 0.4)
        right -= value
        title = self._shown.texts.placed(self._fonts.bold, self._scene.titles[row], right - at)
        if title is None:
            return
        self._text(self._fonts.bold, title.text, at, bar.center().y(), paint.ink)
        note, begin = self._scene.notes[row], at + title.wide + 2 * _GAP
        placed = self._shown.texts.placed(self._fonts.note, note, right - begin) if note else None
        if placed is not None:
            self._text(self._fonts.note, placed.text, begin, bar.center().y(), paint.faint)

    def box(self, row: int) -> None:
        """A closed box with its title, its note, its value and the signs of its kind and phase."""
        painter = self._painter
        left, top, wide, high = self._scene.boxes[row].tolist()
        box = QRectF(left, top, wide, high)
        kind, phase = int(self._scene.kinds[row]), int(self._scene.phases[row])
        paint = self._shown.paint_of(row)
        shape = shapes.outline(kind, box)
        if kind in GROUPS:  # a second sheet under it
            painter.setPen(QPen(paint.border, 1.0))
            painter.setBrush(paint.fill)
            painter.drawPath(shape.translated(3.0, 3.0))
        painter.setPen(QPen(paint.border, 1.0, shapes.pen_style(kind)))
        painter.setBrush(paint.fill)
        painter.drawPath(shape)
        at = box.left() + shapes.inset(kind, box)
        if kind in GROUPS or kind == MORE:
            at = self._toggle(kind, box, paint, opened=False)
        at = self._signs(kind, phase, at, box, paint)
        right = box.right() - shapes.inset(kind, box)
        self._lines(row, box, paint, at, right)

    def _lines(self, row: int, box: QRectF, paint: Paint, at: float, right: float) -> None:
        texts, note = self._shown.texts, self._scene.notes[row]
        has_value = self._shown.colors is not None and bool(self._shown.colors.text(row))
        middle = box.center().y()
        if box.height() >= TWO_LINES and (note or has_value):
            line = self._fonts.high(self._fonts.note)
            upper, middle = middle - line / 2, middle + self._fonts.high(self._fonts.title) / 2
            value = self._value(row, paint, right, middle, right - at)
            placed = texts.placed(self._fonts.note, note, right - value - at) if note else None
            if placed is not None and (not value or placed.wide > 20):
                self._text(self._fonts.note, placed.text, at, middle, paint.faint)
            middle = upper
        elif has_value:
            right -= self._value(row, paint, right, middle, (right - at) * 0.6)
        title = texts.placed(self._fonts.title, self._scene.titles[row], right - at)
        if title is not None:
            self._text(self._fonts.title, title.text, at, middle, paint.ink)

    def _value(self, row: int, paint: Paint, right: float, middle: float, room: float) -> float:
        """Write the value up to ``right``; returns the width that it takes."""
        colors = self._shown.colors
        words = colors.text(row) if colors is not None else ""
        placed = self._shown.texts.placed(self._fonts.note, words, room) if words else None
        if placed is None:
            return 0.0
        self._text(self._fonts.note, placed.text, right - placed.wide, middle, paint.ink)
        return placed.wide + _GAP

    def _text(self, font: QFont, text: QStaticText, left: float, middle: float, color: QColor) -> None:
        self._painter.setFont(font)
        self._painter.setPen(color)
        self._painter.drawStaticText(QPointF(left, middle - self._fonts.high(font) / 2), text)

    def _toggle(self, kind: int, box: QRectF, paint: Paint, opened: bool) -> float:
        """Paint the square with + or −; returns where the rest begins."""
        square = shapes.toggle_box(kind, box, opened)
        self._painter.setPen(QPen(paint.ink, 1.2))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.drawPath(shapes.toggle(square, opened))
        return square.right() + _GAP

    def _signs(self, kind: int, phase: int, at: float, box: QRectF, paint: Paint) -> float:
        """Paint the signs of kind and phase; returns where the text begins."""
        stripe = self._shown.look.stripes[phase]
        for path, color in ((shapes.sign(kind), paint.faint), (shapes.phase_sign(phase), paint.ink)):
            if path is not None:
                top = box.center().y() - shapes.SIGN / 2
                filled = stripe is not None and path is shapes.phase_sign(phase)
                self._sign(path, at, top, color, stripe if filled else None)
                at += shapes.SIGN + _GAP
        return at

    def _sign(self, path: QPainterPath, left: float, top: float, color: QColor, fill: QColor | None) -> None:
        self._painter.setPen(QPen(color, 1.2))
        if fill is None or self._shown.colors is not None:
            self._painter.setBrush(Qt.BrushStyle.NoBrush)
        else:
            self._painter.setBrush(fill)
        self._painter.drawPath(path.translated(left, top))
