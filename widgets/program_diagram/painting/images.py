"""SharpImage: the image of a view, shown moved and scaled until that of the next view is complete."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Signal
from PySide6.QtGui import QColor, QPainter

from widgets.diagram import Layer
from widgets.program_diagram.painting.scene_painter import Step
from widgets.program_diagram.view import View

# Pixels around the screen that the image has too.
EDGE = 96
# Seconds of painting in a turn of the loop: while nothing is shown yet, and while an old image is.
_FIRST_S, _SLICE_S = 0.012, 0.004


class SharpImage(QObject):
    """``ready`` reports that the image of another view is shown now."""

    ready = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._front, self._back = (Layer(self, _SLICE_S, 1) for _ in range(2))
        self.view: View | None = None
        self.is_stale = False
        self._coming = View()
        for layer in (self._front, self._back):
            layer.advanced.connect(self._advanced)

    def outdate(self) -> None:
        """Something else is to be seen: the image is shown until the next one is complete."""
        self._back.stop()
        self.is_stale = True

    def drop(self) -> None:
        """Forget the image and the one that is being painted."""
        self.outdate()
        self._front.stop()
        self.view = None

    def shift(self, dx: float, dy: float) -> None:
        """The scene has moved by pixels of the screen at the zoom of the image, which stays where it is."""
        if self.view is not None:
            self.view = self.view.moved(dx, dy)

    @property
    def is_painting(self) -> bool:
        """Whether the image of another view is being painted."""
        return not self._back.complete

    def is_coming(self, view: View) -> bool:
        """Whether the image of this very view is being painted."""
        return self.is_painting and self._coming == view

    def begin(self, view: View, size: QSize, ratio: float, steps: Sequence[Step], ground: QColor) -> None:
        """Paint the image of a view in the background.

        Args:
            view: what is seen at the left upper corner of the screen; the image begins ``EDGE`` before it.
            size: of the screen and the edges.
        """

        def draw(painter: QPainter, first: int, stop: int) -> None:
            for step in steps[first:stop]:
                step(painter)

        self._coming, self.is_stale = view, False
        first = _FIRST_S if self.view is None else 0.0
        self._back.begin(size, ratio, len(steps), draw, ground=ground, first=first)
        if self._back.complete:
            self._swap()

    def _advanced(self) -> None:
        if self._back.complete:
            self._swap()

    def _swap(self) -> None:
        self._front, self._back = self._back, self._front
        self.view = self._coming
        self.ready.emit()

    def target(self, view: View) -> QRectF:
        """Where the image is on the screen in a view; empty without an image."""
        if self.view is None:
            return QRectF()
        ratio = self._front.pixmap.devicePixelRatio() or 1.0
        factor = view.zoom / self.view.zoom
        left = view.x - (self.view.x + EDGE) * factor
        top = view.y - (self.view.y + EDGE) * factor
        wide = self._front.pixmap.width() / ratio * factor
        return QRectF(left, top, wide, self._front.pixmap.height() / ratio * factor)

    def paint(self, painter: QPainter, view: View, ratio: float) -> None:
        """Paint the image where it is in a view."""
        if self.view is None:
            return
        target = self.target(view)
        if self.view.zoom == view.zoom:
            corner = QPointF(round(target.left() * ratio) / ratio, round(target.top() * ratio) / ratio)
            painter.drawPixmap(corner, self._front.pixmap)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(target, self._front.pixmap, QRectF(self._front.pixmap.rect()))
