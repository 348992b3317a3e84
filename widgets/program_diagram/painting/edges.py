"""Paints edges: straight lines far out, curves with arrow heads near, and their texts where they fit."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from widgets.program_diagram.index import Rows, SceneIndex
from widgets.program_diagram.painting.batches import draw_lines
from widgets.program_diagram.painting.look import Look
from widgets.program_diagram.painting.shapes import TITLE_HIGH
from widgets.program_diagram.painting.texts import BoxTexts
from widgets.program_diagram.view import Bounds

_HEAD_LONG, _HEAD_WIDE = 7.0, 3.2
_LONGEST_BEND = 30.0
# The same text of edges from one box is written once within this distance.
_REPEATED = 250.0


def paint_lines(painter: QPainter, index: SceneIndex, segments: Rows, color: QColor) -> None:
    """Straight parts of edges, one pixel of the screen wide."""
    pen = QPen(color, 1.0)
    pen.setCosmetic(True)
    painter.setPen(pen)
    draw_lines(painter, np.hstack([index.points[segments], index.points[segments + 1]]))


def curve(path: QPainterPath, points: list[list[float]]) -> None:
    """Add a line through some points: vertical where it meets a box, with an S in each gap between rows."""
    x, y = points[0]
    path.moveTo(x, y)
    for next_x, next_y in points[1:]:
        down = next_y - y
        if abs(next_x - x) < 0.05 or abs(down) < 0.05:
            path.lineTo(next_x, next_y)
        else:
            bend = max(-_LONGEST_BEND, min(_LONGEST_BEND, down / 2))
            path.cubicTo(x, y + bend, next_x, next_y - bend, next_x, next_y)
        x, y = next_x, next_y


def _head(path: QPainterPath, points: list[list[float]]) -> None:
    """Add the arrow head at the end of an edge."""
    x, y = points[-1]
    before = points[-2]
    if before[1] != y:
        along = 1.0 if y > before[1] else -1.0
        corners = [(x - _HEAD_WIDE, y - along * _HEAD_LONG), (x + _HEAD_WIDE, y - along * _HEAD_LONG)]
    else:
        along = 1.0 if x > before[0] else -1.0
        corners = [(x - along * _HEAD_LONG, y - _HEAD_WIDE), (x - along * _HEAD_LONG, y + _HEAD_WIDE)]
    path.moveTo(x, y)
    for corner in corners:
        path.lineTo(*corner)
    path.closeSubpath()


def paint_curves(painter: QPainter, index: SceneIndex, edges: Rows, color: QColor, wide: float = 1.0) -> None:
    """Curves with arrow heads; ``wide`` is in pixels of the screen.

    Lines of one pixel of the device take a fiftieth of the time of wider ones, which are stroked as areas;
    those cost less one by one.
    """
    pixels = wide * painter.device().devicePixelRatio()
    pen = QPen(color, pixels)
    pen.setCosmetic(True)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    lines, heads = QPainterPath(), QPainterPath()
    for edge in edges.tolist():
        points = index.line(edge).tolist()
        if len(points) < 2:
            continue
        curve(lines, points)
        _head(heads, points)
        if pixels > 1.0:
            painter.drawPath(lines)
            lines = QPainterPath()
    painter.drawPath(lines)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPath(heads)


class EdgeTexts:
    """Places texts of edges next to their middles, where neither a box nor another text is."""

    def __init__(self, index: SceneIndex, texts: BoxTexts) -> None:
        self._index, self._texts = index, texts
        self._found: dict[int, Bounds | None] = {}

    def _place(self, edge: int) -> Bounds | None:
        """Where the text of an edge has room among the boxes."""
        index, font = self._index, self._texts.fonts.note
        words = index.scene.edge_texts[edge]
        points = index.line(edge)
        if not words or len(points) < 2:
            return None
        lengths = np.abs(np.diff(points, axis=0)).sum(axis=1)
        at = int(lengths.argmax())
        x, y = ((points[at] + points[at + 1]) / 2).tolist()
        wide, high = self._texts.fonts.wide(font, words[:40]), self._texts.fonts.high(font)
        for left in (x - wide / 2, x + 4.0, x - wide - 4.0):
            place = Bounds(left - 2, y - high / 2, left + wide + 2, y + high / 2)
            inside = index.boxes_in(place)
            if index.scene.opened[inside].all() and self._clear_of_frames(inside, place):
                return place
        return None

    def _clear_of_frames(self, rows: Rows, place: Bounds) -> bool:
        """Whether a place is within each of the frames that it meets, and below its title."""
        index = self._index
        return bool(
            (
                (index.left[rows] <= place.left)
                & (index.right[rows] >= place.right)
                & (index.top[rows] + TITLE_HIGH <= place.top)
                & (index.bottom[rows] >= place.bottom)
            ).all()
        )

    def places(self, edges: Rows, taken: list[tuple[Bounds, int, str]]) -> list[tuple[int, Bounds]]:
        """The edges whose texts fit where none is yet, in their order.

        Args:
            taken: places so far, with the box that the edge is from, and the text; gets the new ones.
        """
        scene, result = self._index.scene, []
        for edge in edges.tolist():
            if edge not in self._found:
                self._found[edge] = self._place(edge)
            place, words, source = self._found[edge], scene.edge_texts[edge], int(scene.edge_ends[edge, 0])
            if place is not None and not any(
                place.meets(other)
                or (source == its_source and words == its_words and place.meets(other.grown(_REPEATED)))
                for other, its_source, its_words in taken
            ):
                taken.append((place, source, words))
                result.append((edge, place))
        return result

    def paint(self, painter: QPainter, edge: int, place: Bounds, look: Look) -> None:
        """Paint the text of an edge."""
        font = self._texts.fonts.note
        placed = self._texts.placed(font, self._index.scene.edge_texts[edge][:40], place.width)
        if placed is None:
            return
        box = QRectF(place.left, place.top, place.width, place.height)
        ground = QColor(look.ground)
        ground.setAlphaF(0.85)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(box, 3, 3)
        painter.setFont(font)
        painter.setPen(look.text)
        painter.drawStaticText(QPointF(place.left + 2, place.top), placed.text)
