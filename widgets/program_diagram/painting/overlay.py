"""What changes too often for the image: selection, what is pointed at, notes over the diagram."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from widgets import theme
from widgets.program_diagram.index import Rows, both
from widgets.program_diagram.painting.edges import paint_curves
from widgets.program_diagram.painting.scene_painter import ScenePainter
from widgets.program_diagram.painting.texts import Fonts
from widgets.program_diagram.view import DETAILED, Bounds, View

# More are not painted: with so many, single ones can't be followed.
_MOST_EDGES, _MOST_WIDE, _MOST_BOXES, _MOST_CROSSED = 200, 20, 500, 120
_OUTLINE = 3.0  # pixels between a box and the frame around it


def paint_chosen(
    painter: QPainter,
    scene: ScenePainter,
    view: View,
    seen: Bounds,
    chosen: Rows,
    pointed: tuple[int | None, int | None],
) -> None:
    """The edges of what is selected or pointed at, which is a box or an edge, and frames around that."""
    hovered, hovered_edge = pointed
    rows = chosen if hovered is None else np.append(chosen, hovered)
    if not len(rows) and hovered_edge is None:
        return
    index, look = scene.index, scene.shown.look
    edges = both(index.edges_of(rows), index.edges_in(seen), index.edge_count)[:_MOST_EDGES]
    if hovered_edge is not None:
        edges = np.append(edges, hovered_edge)
    if len(edges):
        painter.save()
        painter.translate(view.x, view.y)
        painter.scale(view.zoom, view.zoom)
        paint_curves(painter, index, edges, look.accent, 2.0 if len(edges) <= _MOST_WIDE else 1.0)
        if view.zoom >= DETAILED:
            scene.paint_over(painter, edges, seen, _MOST_CROSSED)
        painter.restore()
    framed = both(chosen, index.boxes_in(seen), index.count)[:_MOST_BOXES]
    for row in framed.tolist():
        _outline(painter, index.box(row), view, look.accent, 2.5, look.ground)
    if hovered is not None and hovered not in chosen:
        _outline(painter, index.box(hovered), view, look.accent, 1.5, None)
    scene.paint_marks(painter, framed, view)


def _outline(
    painter: QPainter, box: Bounds, view: View, color: QColor, wide: float, ring: QColor | None
) -> None:
    left, top = view.to_screen(box.left, box.top)
    right, bottom = view.to_screen(box.right, box.bottom)
    away = _OUTLINE
    area = QRectF(left, top, right - left, bottom - top).adjusted(-away, -away, away, away)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if ring is not None:
        painter.setPen(QPen(ring, wide + 2.0))
        painter.drawRoundedRect(area, 7, 7)
    painter.setPen(QPen(color, wide))
    painter.drawRoundedRect(area, 7, 7)


def paint_message(painter: QPainter, area: QRectF, words: str) -> None:
    """A text in the middle, where there is no diagram."""
    painter.setFont(theme.font(theme.BODY_PX))
    painter.setPen(QColor(theme.current().text))
    inside = area.adjusted(32, 16, -32, -16)
    painter.drawText(inside, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, words)


def paint_note(painter: QPainter, area: QRectF, words: str, fonts: Fonts) -> None:
    """A note at the top, over the diagram."""
    tokens, font = theme.current(), fonts.note
    painter.setFont(font)
    shown = fonts.elided(font, words, area.width() - 48.0)
    wide = fonts.wide(font, shown) + 2 * theme.SPACE_M
    box = QRectF((area.width() - wide) / 2, theme.SPACE_S, wide, 24.0)
    painter.setPen(QPen(theme.mix(tokens.line, tokens.mute, 0.4), 1.0))
    painter.setBrush(QColor(tokens.panel))
    painter.drawRoundedRect(box, 12, 12)
    painter.setPen(QColor(tokens.text))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, shown)


def paint_focus(painter: QPainter, area: QRectF) -> None:
    """The ring of a widget that has the focus."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(theme.current().accent), 1.0))
    painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))
