"""Paints boxes and frames near enough to be read."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QStaticText

from widgets import theme
from widgets.program_diagram.painting import shapes
from widgets.program_diagram.painting.look import Look, Paint
from widgets.program_diagram.painting.marks import mark_color
from widgets.program_diagram.painting.texts import LONGEST, BoxTexts
from widgets.program_diagram.painting.values import NodeColors
from widgets.program_diagram.scene import GROUPS, MORE, Scene

TWO_LINES = 32.0  # height of a box from which its note has a line to itself
_TIGHT = 26.0  # from which a value may have one where it has no room next to the title
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
        """An opened group: its ground and its title bar."""
        painter, look = self._painter, self._shown.look
        left, top, wide, high = self._scene.boxes[row].tolist()
        box = QRectF(left, top, wide, high)
        kind, phase = int(self._scene.kinds[row]), int(self._scene.phases[row])
        paint = self._shown.paint_of(row)
        border = paint.border if self._shown.colors is None else look.frame_border
        painter.setPen(QPen(look.stripes[phase] or border, 1.2, shapes.pen_style(kind)))
        painter.setBrush(look.frames[depth % len(look.frames)])
        painter.drawRoundedRect(box, shapes.RADIUS, shapes.RADIUS)
        bar = QRectF(left, top, wide, min(shapes.TITLE_HIGH, high))
        painter.save()
        painter.setClipRect(bar, Qt.ClipOperation.IntersectClip)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(paint.fill)
        painter.drawRoundedRect(box.adjusted(0.6, 0.6, -0.6, -0.6), shapes.RADIUS, shapes.RADIUS)
        painter.restore()

    def frame_title(self, row: int) -> None:
        """The toggle and the texts of an opened group, over the edges that cross its title bar."""
        left, top, wide, high = self._scene.boxes[row].tolist()
        box = QRectF(left, top, wide, high)
        kind, paint, fonts = int(self._scene.kinds[row]), self._shown.paint_of(row), self._fonts
        bar_high = min(shapes.TITLE_HIGH, high)
        middle, begin, right = top + bar_high / 2, left + shapes.PAD, box.right() - shapes.PAD
        at = shapes.toggle_box(kind, box, True).right() + _GAP
        value = self._shown.colors.text(row) if self._shown.colors is not None else ""
        value_wide = min(fonts.wide(fonts.note, value), (right - at) * 0.4) + _GAP if value else 0.0
        title, note = self._scene.titles[row][:LONGEST], self._scene.notes[row]
        end = (
            at + fonts.wide(fonts.bold, title) + (shapes.SIGN + _GAP if shapes.sign(kind) is not None else 0)
        )
        note_wide = fonts.wide(fonts.note, note) if note else 0.0
        has_note = bool(note) and end + 2 * _GAP + note_wide <= right - value_wide
        end = min(end + (2 * _GAP + note_wide if has_note else 0.0), right - value_wide)
        self._painter.fillRect(QRectF(begin - 2, top + 3, end - begin + 4, bar_high - 6), paint.fill)
        self._toggle(kind, box, paint, opened=True)
        at = self._title(row, fonts.bold, paint, at, right - value_wide, middle) + 2 * _GAP
        if has_note:
            placed = self._shown.texts.placed(fonts.note, note, note_wide + 1.0)
            if placed is not None:
                self._text(fonts.note, placed.text, at, middle, paint.faint)
        if value_wide:
            ground = QRectF(right - value_wide, top + 3, value_wide, bar_high - 6)
            self._painter.fillRect(ground, paint.fill)
            self._value(row, paint, right, middle, value_wide)
        self._phase(int(self._scene.phases[row]), box)

    def box(self, row: int) -> None:
        """A closed box with its title, its note, its value and the signs of its kind and phase."""
        painter = self._painter
        left, top, wide, high = self._scene.boxes[row].tolist()
        box = QRectF(left, top, wide, high)
        kind, phase = int(self._scene.kinds[row]), int(self._scene.phases[row])
        paint = self._shown.paint_of(row)
        border = self._shown.look.stripes[phase] or paint.border
        shape = shapes.outline(kind, box)
        if kind in GROUPS:  # a second sheet under it
            painter.setPen(QPen(border, 1.0))
            painter.setBrush(paint.fill)
            painter.drawPath(shape.translated(3.0, 3.0))
        painter.setPen(QPen(border, 1.0, shapes.pen_style(kind)))
        painter.setBrush(paint.fill)
        painter.drawPath(shape)
        at = box.left() + shapes.inset(kind, box)
        if kind in GROUPS or kind == MORE:
            at = self._toggle(kind, box, paint, opened=False)
        self._lines(row, box, paint, at, box.right() - shapes.inset(kind, box))
        self._phase(phase, box)

    def _lines(self, row: int, box: QRectF, paint: Paint, at: float, right: float) -> None:
        fonts, note = self._fonts, self._scene.notes[row]
        value = self._shown.colors.text(row) if self._shown.colors is not None else ""
        middle = box.top() + shapes.text_high(box) / 2
        title_high, note_high = fonts.high(fonts.title), fonts.high(fonts.note)
        if box.height() < TWO_LINES:
            note = ""
        if value and not note and box.height() >= _TIGHT:
            both = fonts.wide(fonts.title, self._scene.titles[row][:LONGEST]) + fonts.wide(fonts.note, value)
            if both + _GAP > right - at:  # two lines without air between them
                title_high, note_high, note = title_high - 3.0, note_high - 1.0, " "
        if note:
            lower = middle + title_high / 2
            middle -= note_high / 2
            room = right - at - self._value(row, paint, right, lower, right - at)
            # Next to a value, half a note says nothing.
            has_note = bool(note.strip()) and (not value or fonts.wide(fonts.note, note[:LONGEST]) <= room)
            placed = self._shown.texts.placed(fonts.note, note, room) if has_note else None
            if placed is not None:
                self._text(fonts.note, placed.text, at, lower, paint.faint)
        elif value:
            right -= self._value(row, paint, right, middle, (right - at) * 0.6)
        self._title(row, fonts.title, paint, at, right, middle)

    def _title(self, row: int, font: QFont, paint: Paint, at: float, right: float, middle: float) -> float:
        """Write the title, with the sign of the kind before it where both have room; returns its end."""
        title, texts = self._scene.titles[row], self._shown.texts
        sign = shapes.sign(int(self._scene.kinds[row]))
        if sign is not None and self._fonts.wide(font, title[:80]) + shapes.SIGN + _GAP <= right - at:
            self._painter.setPen(QPen(paint.faint, 1.2))
            self._painter.setBrush(Qt.BrushStyle.NoBrush)
            self._painter.drawPath(sign.translated(at, middle - shapes.SIGN / 2))
            at += shapes.SIGN + _GAP
        placed = texts.placed(font, title, right - at)
        if placed is None:
            return at
        self._text(font, placed.text, at, middle, paint.ink)
        return at + placed.wide

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
        """Paint the square with + or −; returns where the text begins."""
        square = shapes.toggle_box(kind, box, opened)
        self._painter.setPen(QPen(paint.ink, 1.2))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.drawPath(shapes.toggle(square, opened))
        return square.right() + _GAP

    def _phase(self, phase: int, box: QRectF) -> None:
        """Paint the sign of a phase over the right upper corner."""
        sign, color, look = shapes.phase_sign(phase), self._shown.look.stripes[phase], self._shown.look
        if sign is None or color is None:
            return
        badge = shapes.phase_badge(box)
        self._painter.setPen(QPen(color, 1.0))
        self._painter.setBrush(look.ground)
        self._painter.drawRoundedRect(badge, 4, 4)
        self._painter.setPen(QPen(look.text, 1.3))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        inset = (badge.width() - shapes.SIGN) / 2
        self._painter.drawPath(sign.translated(badge.left() + inset, badge.top() + inset))
