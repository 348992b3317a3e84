"""A diagram as an image: of what is in view, or of the whole scene."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QRectF, QSize, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap

from widgets.diagram import Layer
from widgets.image_bytes import SCALE, encoded, png_bytes
from widgets.program_diagram.painting.legend import Legend
from widgets.program_diagram.painting.pictures import Pictures
from widgets.program_diagram.painting.scene_painter import ScenePainter, Step, paint_all
from widgets.program_diagram.view import MARGIN, View

# Pixels of an image; a larger scene is drawn smaller.
MOST_PIXELS, MOST_SIDE = 40_000_000, 30_000
_SLICE_S = 0.008


class Drawing:
    """A view of a scene with its legend, to be painted anywhere.

    Args:
        pictures: those on the boxes.
        view, size: what is seen, and the size of the screen; without them the whole scene.
    """

    def __init__(
        self,
        painter: ScenePainter,
        legend: Legend | None,
        pictures: Pictures,
        view: View | None = None,
        size: QSize | None = None,
    ) -> None:
        self._painter, self._legend, self._pictures = painter, legend, pictures
        if view is None or size is None:
            view, size = _whole(painter, legend)
        self._view, self.size = view, size

    @property
    def ground(self) -> QColor:
        """What it is painted on."""
        return self._painter.shown.look.ground

    def steps(self) -> list[Step]:
        """All of it, in short steps from the back to the front."""
        found = self._painter.steps(self._view, self.size.width(), self.size.height())
        return [self._paint_ground, *found, self._paint_pictures, self._paint_legend]

    def _paint_ground(self, into: QPainter) -> None:
        area = QRectF(0, 0, self.size.width(), self.size.height())
        into.fillRect(area, self.ground)

    def _paint_pictures(self, into: QPainter) -> None:
        seen = self._view.seen(self.size.width(), self.size.height())
        self._pictures.paint(into, self._painter.index, self._view, seen)

    def _paint_legend(self, into: QPainter) -> None:
        if self._legend is not None:
            self._legend.paint(into, self.size.height())

    def paint(self, into: QPainter) -> None:
        """Paint it at once."""
        paint_all(into, self.steps())

    def png(self) -> bytes:
        """A PNG file at twice the size, made at once."""
        return png_bytes(self.size, self.paint)


def _whole(painter: ScenePainter, legend: Legend | None) -> tuple[View, QSize]:
    """The view of everything, and the size of its image."""
    whole = painter.index.whole
    below = 0.0 if legend is None else legend.area(0.0).height() + MARGIN
    least = 2 * MARGIN + (0.0 if legend is None else legend.area(0.0).width())
    wide, high = whole.width + 2 * MARGIN, whole.height + 2 * MARGIN
    side = MOST_SIDE / SCALE
    zoom = min(1.0, side / wide, (side - below) / high, (MOST_PIXELS / SCALE**2 / (wide * high)) ** 0.5)
    size = QSize(max(1, round(max(wide * zoom, least))), max(1, round(high * zoom + below)))
    return View(MARGIN * zoom, MARGIN * zoom, zoom), size


class ImageMaker(QObject):
    """Makes PNG files while the window lives, one by one: painted in slices, compressed in a thread."""

    _made = Signal(bytes)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._layer = Layer(self, _SLICE_S, 1)
        self._layer.advanced.connect(self._advance)
        self._made.connect(self._hand_on)
        self._waiting: deque[tuple[Drawing, Callable[[bytes], object]]] = deque()  # the first is being made
        self._encoding = False

    @property
    def is_working(self) -> bool:
        """Whether images are being made."""
        return bool(self._waiting)

    def make(self, drawing: Drawing, take: Callable[[bytes], object]) -> None:
        """Make an image, and call ``take`` with it."""
        self._waiting.append((drawing, take))
        if len(self._waiting) == 1:
            self._begin()

    def _begin(self) -> None:
        drawing = self._waiting[0][0]
        steps = drawing.steps()

        def draw(painter: QPainter, first: int, stop: int) -> None:
            for step in steps[first:stop]:
                step(painter)

        self._layer.begin(drawing.size, SCALE, len(steps), draw, ground=drawing.ground, first=_SLICE_S)
        self._advance()

    def _advance(self) -> None:
        if self._layer.complete and self._waiting and not self._encoding:
            self._encoding = True
            image = self._layer.pixmap.toImage()
            self._layer.stop()
            self._layer.pixmap = QPixmap()  # of a large scene hundreds of megabytes
            threading.Thread(target=self._encode, args=(image,), name="image of the diagram").start()

    def _encode(self, image: QImage) -> None:
        content = encoded(image)
        with contextlib.suppress(RuntimeError):  # the diagram may have been deleted meanwhile
            self._made.emit(content)

    def _hand_on(self, content: bytes) -> None:
        self._encoding = False
        _, take = self._waiting.popleft()
        take(content)
        if self._waiting:
            self._begin()
