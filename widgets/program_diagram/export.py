"""A diagram as an image: of what is in view, or of the whole scene."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter

from widgets.image_bytes import SCALE, png_bytes
from widgets.program_diagram.painting.legend import Legend
from widgets.program_diagram.painting.scene_painter import ScenePainter, paint_all
from widgets.program_diagram.view import MARGIN, View

# Pixels of an image; a larger scene is drawn smaller.
MOST_PIXELS, MOST_SIDE = 64_000_000, 30_000


def png_of_view(painter: ScenePainter, legend: Legend | None, view: View, size: QSize) -> bytes:
    """What a screen of a size shows, at twice the size."""
    return png_bytes(size, lambda into: paint_view(into, painter, legend, view, size))


def png_of_whole(painter: ScenePainter, legend: Legend | None) -> bytes:
    """The whole scene at zoom 1, at twice the size as far as the limits of images allow."""
    view, size = whole_view(painter, legend)
    return png_bytes(size, lambda into: paint_view(into, painter, legend, view, size))


def whole_view(painter: ScenePainter, legend: Legend | None) -> tuple[View, QSize]:
    """The view of everything, and the size of its image."""
    whole = painter.index.whole
    below = 0.0 if legend is None else legend.area(0.0).height() + MARGIN
    wide, high = whole.width + 2 * MARGIN, whole.height + 2 * MARGIN + below
    zoom = min(
        1.0,
        MOST_SIDE / SCALE / wide,
        MOST_SIDE / SCALE / high,
        (MOST_PIXELS / SCALE**2 / (wide * high)) ** 0.5,
    )
    least = 2 * MARGIN + (0 if legend is None else legend.area(0.0).width())
    size = QSize(max(1, round(max(wide * zoom, least))), max(1, round(high * zoom)))
    return View(MARGIN * zoom, MARGIN * zoom, zoom), size


def paint_view(into: QPainter, painter: ScenePainter, legend: Legend | None, view: View, size: QSize) -> None:
    """Paint a view of a size with its legend, onto any painter."""
    into.fillRect(QRectF(0, 0, size.width(), size.height()), painter.shown.look.ground)
    paint_all(into, painter.steps(view, size.width(), size.height()))
    if legend is not None:
        legend.paint(into, size.height())
