"""Layer: many marks painted into a pixmap in slices of a few milliseconds, so that the window never waits."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPixmap

FIRST_S, BUDGET_S = 0.016, 0.010
SLICE = 50
Draw = Callable[[QPainter, int, int], None]


class Layer(QObject):
    """``pixmap`` holds what has been painted so far; ``advanced`` reports that there is more in it.

    Args:
        budget: seconds that a slice may take.
        marks: how many marks are painted between two looks at the clock.
    """

    advanced = Signal()

    def __init__(self, parent: QObject, budget: float = BUDGET_S, marks: int = SLICE) -> None:
        super().__init__(parent)
        self._budget, self._marks = budget, marks
        self.pixmap = QPixmap()
        self._draw: Draw | None = None
        self._next = self._count = 0
        self._smooth = False
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._continue)

    @property
    def complete(self) -> bool:
        """Whether everything has been painted."""
        return self._next >= self._count

    def begin(
        self,
        size: QSize,
        ratio: float,
        count: int,
        draw: Draw,
        smooth: bool = True,
        ground: QColor | Qt.GlobalColor = Qt.GlobalColor.transparent,
        first: float = FIRST_S,
    ) -> None:
        """Paint ``count`` marks anew: ``draw`` paints those from one number up to another.

        The first slice is painted at once, the others by the event loop.

        Args:
            smooth: with antialiasing, which takes several times as long.
            ground: what the marks are painted on; a pixmap that is opaque is copied faster.
            first: seconds that the first slice may take.
        """
        pixels = size * ratio
        if self.pixmap.size() != pixels:  # fresh memory of a large one takes milliseconds
            self.pixmap = QPixmap(pixels.width(), pixels.height())
        self.pixmap.setDevicePixelRatio(ratio)
        self.pixmap.fill(ground)
        self._draw, self._next, self._count, self._smooth = draw, 0, count, smooth
        self._advance(first)

    def stop(self) -> None:
        """Paint no more of it."""
        self._draw, self._next, self._count = None, 0, 0
        self._timer.stop()

    def _continue(self) -> None:
        self._advance(self._budget)
        self.advanced.emit()

    def _advance(self, seconds: float) -> None:
        if self._draw is not None and not self.complete and not self.pixmap.isNull():
            end = time.perf_counter() + seconds
            painter = QPainter(self.pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._smooth)
            try:
                while self._next < self._count:
                    stop = min(self._next + self._marks, self._count)
                    self._draw(painter, self._next, stop)
                    self._next = stop
                    if time.perf_counter() > end:
                        break
            finally:
                painter.end()
        if self.complete or self.pixmap.isNull():
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
