"""Crumbs: the opened groups around what is in view whose titles are above it, at the top of the diagram."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from widgets import theme
from widgets.program_diagram.index import SceneIndex
from widgets.program_diagram.painting.boxes import Shown
from widgets.program_diagram.painting.shapes import TITLE_HIGH
from widgets.program_diagram.view import Bounds

_HIGH, _PAD, _BETWEEN, _LONGEST = 24.0, 8.0, " › ", 160.0


class Crumbs:
    """Their rows and places on the screen, for one view."""

    def __init__(self, shown: Shown, index: SceneIndex, seen: Bounds, room: float) -> None:
        self._shown, self._fonts = shown, shown.texts.fonts
        self.rows = _around(index, seen)
        self.places: list[tuple[int, QRectF, str]] = []
        font = self._fonts.note
        gap, left = self._fonts.wide(font, _BETWEEN), theme.SPACE_S + _PAD
        # The innermost ones are the most useful where not all have room.
        chosen: list[tuple[int, str, float]] = []
        for row in reversed(self.rows):
            words = self._fonts.elided(font, shown.scene.titles[row], _LONGEST)
            wide = self._fonts.wide(font, words)
            if left + wide + gap > room:
                break
            chosen.insert(0, (row, words, wide))
            room -= wide + gap
        for row, words, wide in chosen:
            self.places.append((row, QRectF(left, theme.SPACE_S, wide, _HIGH), words))
            left += wide + gap

    def row_at(self, at: QPointF) -> int | None:
        """The group whose title is at a point of the screen."""
        return next((row for row, place, _ in self.places if place.contains(at)), None)

    def area(self) -> QRectF:
        """Where they are on the screen; empty without any."""
        if not self.places:
            return QRectF()
        whole = self.places[0][1].united(self.places[-1][1])
        return whole.adjusted(-_PAD, 0, _PAD, 0)

    def paint(self, painter: QPainter) -> None:
        """Paint them."""
        if not self.places:
            return
        tokens, font = theme.current(), self._fonts.note
        painter.setPen(QPen(theme.mix(tokens.line, tokens.mute, 0.4), 1.0))
        painter.setBrush(QColor(tokens.panel))
        painter.drawRoundedRect(self.area().adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setFont(font)
        for position, (_, place, words) in enumerate(self.places):
            painter.setPen(QColor(tokens.text))
            painter.drawText(place.adjusted(0, 0, 2, 0), Qt.AlignmentFlag.AlignVCenter, words)
            if position + 1 < len(self.places):
                painter.setPen(QColor(tokens.mute))
                after = QRectF(place.right(), place.top(), 40.0, place.height())
                painter.drawText(after, Qt.AlignmentFlag.AlignVCenter, _BETWEEN)


def _around(index: SceneIndex, seen: Bounds) -> list[int]:
    """The frames around the middle of what is seen whose titles are above it, the outermost first."""
    middle = (seen.left + seen.right) / 2
    found = (index.left < middle) & (index.right > middle)
    found &= (index.top + TITLE_HIGH / 2 < seen.top) & (index.bottom > (seen.top + seen.bottom) / 2)
    rows: list[int] = np.flatnonzero(found & np.asarray(index.scene.opened, bool)).tolist()
    return rows
