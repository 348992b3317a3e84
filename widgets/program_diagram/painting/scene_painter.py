"""ScenePainter: paints the part of a scene in a view, in short steps and with details when near."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from widgets import theme
from widgets.program_diagram.index import Rows, SceneIndex, both
from widgets.program_diagram.painting.batches import draw_rects
from widgets.program_diagram.painting.boxes import BoxPainter, Shown, tinted
from widgets.program_diagram.painting.edges import EdgeTexts, paint_curves, paint_lines
from widgets.program_diagram.painting.marks import MARK_SIZE, paint_mark
from widgets.program_diagram.view import DETAILED, Bounds, View

Step = Callable[[QPainter], None]

EDGE_TEXT_ZOOM = 0.7
# Boxes and edges of a plain image: more can't be painted within a frame, nor distinguished in a minimap.
MOST_PLAIN = 3000
# How many of each one step paints.
_LINES, _PLAIN, _CURVES, _BOXES, _TEXTS = 500, 1000, 30, 20, 30
_SMALLEST_MARK = 9.0
# So many edges in view are painted in full; more are fainter, so that boxes stay visible among them.
_DENSE, _FAINTEST = 1000, 0.3
_LABEL_WIDE, _LABEL_HIGH = 56.0, 26.0  # of a frame that gets a label far out


class ScenePainter:
    """Paints one scene; what is prepared for it is used by all views."""

    def __init__(self, shown: Shown, index: SceneIndex) -> None:
        self.shown, self.index = shown, index
        self._edge_texts = EdgeTexts(index, shown.texts)

    def steps(self, view: View, wide: float, high: float, plain: bool = False) -> list[Step]:
        """Everything in a view of a size, from the back to the front.

        Args:
            plain: boxes and lines only, whatever the zoom, and of very many only some.
        """
        part = view.seen(wide, high).grown(8.0)
        rows = self.index.boxes_in(part)
        edges = self.index.edges_in(part, least=2.0 / view.zoom)
        if plain:
            rows, edges = _thinned(rows, MOST_PLAIN), _thinned(edges, MOST_PLAIN)
        opened = self.index.scene.opened[rows]
        frames, closed = rows[opened], rows[~opened]
        near = not plain and view.zoom >= DETAILED
        found = self._near(frames, closed, edges, view) if near else self._far(frames, closed, edges, view)
        steps = [partial(_scaled, step=step, view=view) for step in found]
        if not near:
            steps.append(partial(self._labels, frames=frames, view=view))
        for some in _parts(self._marked(rows), _TEXTS):
            steps.append(partial(self.paint_marks, rows=some, view=view))
        return steps

    def overview(self, view: View) -> list[Step]:
        """The whole scene, very small."""
        rows = np.arange(self.index.count)
        opened = np.asarray(self.index.scene.opened, bool)
        frames = _thinned(rows[opened], MOST_PLAIN)
        edges = self.index.edges_in(self.index.whole, least=2.0 / view.zoom)
        found = self._far(frames, _thinned(rows[~opened], MOST_PLAIN), _thinned(edges, MOST_PLAIN), view)
        return [partial(_scaled, step=step, view=view) for step in found]

    def _near(self, frames: Rows, closed: Rows, edges: Rows, view: View) -> Iterator[Step]:
        for part in _parts(frames, _BOXES):
            yield partial(self._frames, rows=part)
        for part in _parts(edges, _CURVES):
            yield partial(paint_curves, index=self.index, edges=part, color=self.shown.look.edge)
        for part in _parts(frames, _BOXES):
            yield partial(self._frame_titles, rows=part)
        for part in _parts(closed, _BOXES):
            yield partial(self._boxes, rows=part)
        if view.zoom >= EDGE_TEXT_ZOOM:
            taken: list[tuple[Bounds, int, str]] = []
            for part in _parts(edges, _TEXTS):
                yield partial(self._texts_of, edges=part, taken=taken)

    def _frames(self, painter: QPainter, rows: Rows) -> None:
        boxes = BoxPainter(painter, self.shown)
        for row in rows.tolist():
            boxes.frame(row, int(self.index.depths[row]))

    def _frame_titles(self, painter: QPainter, rows: Rows) -> None:
        boxes = BoxPainter(painter, self.shown)
        for row in rows.tolist():
            boxes.frame_title(row)

    def _boxes(self, painter: QPainter, rows: Rows) -> None:
        boxes = BoxPainter(painter, self.shown)
        for row in rows.tolist():
            boxes.box(row)

    def _texts_of(self, painter: QPainter, edges: Rows, taken: list[tuple[Bounds, int, str]]) -> None:
        for edge, place in self._edge_texts.places(edges, taken):
            self._edge_texts.paint(painter, edge, place, self.shown.look)

    def paint_over(self, painter: QPainter, edges: Rows, seen: Bounds, most: int) -> None:
        """Paint what edges may cross, boxes and titles, and the texts of the edges, onto a scaled painter."""
        boxes = BoxPainter(painter, self.shown)
        for row in self.index.crossed(edges, seen)[:most].tolist():
            if self.index.scene.opened[row]:
                boxes.frame_title(row)
            else:
                boxes.box(row)
        self._texts_of(painter, edges, [])

    def _far(self, frames: Rows, closed: Rows, edges: Rows, view: View) -> Iterator[Step]:
        for part in _parts(frames, _PLAIN):
            yield partial(self._plain_frames, rows=part)
        color = QColor(self.shown.look.far_edge)
        color.setAlphaF(min(1.0, max(_FAINTEST, _DENSE / max(1, len(edges)))))
        for part in _parts(self.index.segments(edges), _LINES):
            yield partial(paint_lines, index=self.index, segments=part, color=color)
        for part in _parts(closed, _PLAIN):
            yield partial(self._plain, rows=part, view=view)

    def _plain_frames(self, painter: QPainter, rows: Rows) -> None:
        look = self.shown.look
        pen = QPen(look.frame_border, 1.0)
        pen.setCosmetic(True)
        painter.setPen(pen)
        for row in rows.tolist():
            painter.setBrush(look.frames[int(self.index.depths[row]) % len(look.frames)])
            painter.drawRect(QRectF(*self.index.scene.boxes[row].tolist()))

    def _plain(self, painter: QPainter, rows: Rows, view: View) -> None:
        """Boxes without texts, those of one colour at once."""
        scene, shown = self.index.scene, self.shown
        if shown.colors is not None:
            codes = shown.colors.codes()[rows]
            fills = [(paint.fill, paint.border) for paint in shown.colors.paints()]
        else:
            phases = len(shown.look.stripes)
            codes = scene.kinds[rows].astype(np.int64) * phases + scene.phases[rows]
            fills = [
                _far_fill(paint.fill, paint.border, stripe)
                for paint in shown.look.kinds
                for stripe in shown.look.stripes
            ]
        boxes = np.asarray(scene.boxes[rows], np.float64)
        least = 1.0 / view.zoom  # a pixel of the screen
        boxes[:, 2:] = np.maximum(boxes[:, 2:], least)
        bordered = float(boxes[:, 3].mean()) * view.zoom >= 4.0
        for code in np.flatnonzero(np.bincount(codes)).tolist():
            fill, border = fills[code]
            pen = QPen(border, 1.0)
            pen.setCosmetic(True)
            painter.setPen(pen if bordered else Qt.PenStyle.NoPen)
            painter.setBrush(fill if bordered else border if shown.colors is None else fill)
            draw_rects(painter, boxes[codes == code])
        if shown.colors is None:
            self._plain_changes(painter, rows)

    def _plain_changes(self, painter: QPainter, rows: Rows) -> None:
        """Boxes that were added, removed, changed or moved, in the colour of that."""
        for row in self._marked(rows).tolist():
            base = self.shown.look.kinds[int(self.index.scene.kinds[row])]
            paint = self.shown.paint_of(row)
            if paint is not base:
                strong = tinted(paint, paint.border)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(strong.border)
                painter.drawRect(QRectF(*self.index.scene.boxes[row].tolist()))

    def _marked(self, rows: Rows) -> Rows:
        """Those of the rows that have marks."""
        marked = np.fromiter(self.shown.marks, np.intp, len(self.shown.marks))
        return both(rows, marked, self.index.count)

    def _labels(self, painter: QPainter, frames: Rows, view: View) -> None:
        """Titles of large frames in letters of one size, so that one finds one's way far out."""
        scene, texts, fonts = self.index.scene, self.shown.texts, self.shown.texts.fonts
        sizes = scene.boxes[frames][:, 2:] * view.zoom
        large = frames[(sizes[:, 0] >= _LABEL_WIDE) & (sizes[:, 1] >= _LABEL_HIGH)]
        high = fonts.high(fonts.note)
        free: dict[int, float] = {}
        for row in large.tolist():
            left, top = view.to_screen(float(self.index.left[row]), float(self.index.top[row]))
            wide = float(scene.boxes[row][2]) * view.zoom
            # A frame at the corner of the one around it would write over that one's title.
            if top < free.get(round(left / 24), -1e9):
                continue
            placed = texts.placed(fonts.note, scene.titles[row], round(wide - 8.0))
            if placed is None:
                continue
            for near in range(-1, 2):
                free[round(left / 24) + near] = top + high
            ground = QColor(self.shown.look.ground)
            ground.setAlphaF(0.8)
            painter.fillRect(QRectF(left + 1, top + 1, placed.wide + 6, high), ground)
            painter.setFont(fonts.note)
            painter.setPen(self.shown.look.text)
            painter.drawStaticText(QPointF(left + 4, top + 1), placed.text)

    def paint_marks(self, painter: QPainter, rows: Rows, view: View) -> None:
        """Marks at the left upper corners, on the screen never smaller than can be recognized."""
        size = max(_SMALLEST_MARK, min(1.4, view.zoom) * MARK_SIZE)
        for row in rows.tolist():
            left, top = view.to_screen(float(self.index.left[row]), float(self.index.top[row]))
            for place, mark in enumerate(self.shown.marks.get(row, ())):
                paint_mark(painter, mark, QPointF(left + place * size * 1.15, top), size)


def _far_fill(fill: QColor, border: QColor, stripe: QColor | None) -> tuple[QColor, QColor]:
    if stripe is None:
        return fill, border
    return theme.mix(fill.name(), stripe.name(), 0.35), theme.mix(border.name(), stripe.name(), 0.6)


def _parts(rows: Rows, size: int) -> Iterator[Rows]:
    for begin in range(0, len(rows), size):
        yield rows[begin : begin + size]


def _thinned(rows: Rows, most: int) -> Rows:
    """At most so many of the rows, evenly chosen."""
    return rows if len(rows) <= most else rows[:: -(-len(rows) // most)]


def _scaled(painter: QPainter, step: Step, view: View) -> None:
    painter.save()
    painter.translate(view.x, view.y)
    painter.scale(view.zoom, view.zoom)
    step(painter)
    painter.restore()


def paint_all(painter: QPainter, steps: list[Step]) -> None:
    """Carry out all steps at once."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for step in steps:
        step(painter)
