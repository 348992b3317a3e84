"""MapView: which pixels speak for an answer and which against it, over the image or without it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter

from widgets import theme
from widgets.attribution.shades import Shades
from widgets.digit_pad.pixel_view import PixelView
from widgets.image_bytes import png_bytes

LEAST_SIDE = 256  # pixels of a saved image on its longer side, at least
OPACITY = 0.8


class MapView(PixelView):
    """An image with a map over it; with ``alone``, the map without the image.

    Pixels whose value is NaN, which were not computed, are hatched. Pointing at a pixel shows its value.
    """

    def __init__(self, alone: bool = False) -> None:
        self._alone, self._opacity = alone, OPACITY
        self._map: NDArray[np.float32] | None = None
        self._shades = Shades(0.0, False)
        super().__init__()

    def set_map(self, values: ArrayLike | None, shades: Shades | None = None) -> None:
        """Show these values, [height, width] of the image; None for no map. Raises ValueError for other
        shapes than the image's.

        Args:
            shades: those that suit the values without.
        """
        found = None if values is None else np.array(values, np.float32)
        if found is not None and found.shape != self._values.shape[:2]:
            raise ValueError(
                f"MapView.set_map: a value for each pixel of the image is needed: image "
                f"{self._values.shape[:2]}, map {found.shape}"
            )
        self._map = found
        self._shades = shades or Shades.of([] if found is None else found)
        self.retranslate()
        self.update()

    def show_map(self, image: ArrayLike, values: ArrayLike | None, shades: Shades | None = None) -> None:
        """Show an image, as ``set_image`` takes it, with a map or without one."""
        self._map = None
        self.set_image(image)
        self.set_map(values, shades)

    def map(self) -> NDArray[np.float32] | None:
        """A copy of the values that are shown; None without a map."""
        return None if self._map is None else self._map.copy()

    def set_opacity(self, opacity: float) -> None:
        """How much the map covers, 0 nothing to 1. Raises ValueError for others."""
        if not 0 <= opacity <= 1:
            raise ValueError(f"MapView.set_opacity: must be between 0 and 1: {opacity}")
        self._opacity = float(opacity)
        self.update()

    def file_content(self) -> bytes:
        """A PNG file of what is shown, each pixel of the image as a square of several."""
        rows, columns = self._values.shape[:2]
        scale = max(1, round(LEAST_SIDE / max(rows, columns)))
        area = QRectF(0, 0, columns * scale, rows * scale)

        def paint(painter: QPainter) -> None:
            painter.fillRect(area, QColor(theme.current().canvas))
            self.paint_pixels(painter, area)

        return png_bytes(area.size().toSize(), paint)

    def paint_pixels(self, painter: QPainter, area: QRectF) -> None:
        if not self._alone:
            super().paint_pixels(painter, area)
        if self._map is None:
            return
        rows, columns = self._map.shape
        pixels = self._shades.pixels(self._map)
        image = QImage(pixels.tobytes(), columns, rows, 4 * columns, QImage.Format.Format_RGBA8888)
        painter.setOpacity(1.0 if self._alone else self._opacity)
        painter.drawImage(area, image)
        painter.setOpacity(1.0)
        if not np.isfinite(self._map).all():
            self._hatch(painter, area, ~np.isfinite(self._map))

    def _hatch(self, painter: QPainter, area: QRectF, where: NDArray[np.bool_]) -> None:
        """Lines over runs of pixels that have no value."""
        rows, columns = where.shape
        wide, high = area.width() / columns, area.height() / rows
        color = QColor(theme.current().mute)
        for row in range(rows):
            edges = np.flatnonzero(np.diff(np.concatenate(([False], where[row], [False])).astype(np.int8)))
            for first, last in edges.reshape(-1, 2).tolist():
                box = QRectF(area.left() + first * wide, area.top() + row * high, (last - first) * wide, high)
                painter.setBrushOrigin(QPointF(area.topLeft()))
                painter.fillRect(box, _hatching(color))

    def pixel_text(self, row: int, column: int) -> str:
        if self._map is None:
            return super().pixel_text(row, column)
        value = float(self._map[row, column])
        if value != value:
            return self.tr("row {0}, column {1}: not computed").format(row, column)
        return self.tr("row {0}, column {1}: {2}").format(row, column, theme.format_number(value, digits=3))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        super().retranslate()
        if self._map is None:
            self.setAccessibleDescription(self.tr("No map yet"))
            return
        rows, columns = self._map.shape
        self.setAccessibleName(self.tr("Map of {0} by {1} pixels").format(columns, rows))
        known = np.isfinite(self._map)
        if not known.any():
            self.setAccessibleDescription(self.tr("No map yet"))
            return
        row, column = divmod(int(np.argmax(np.where(known, self._map, -np.inf))), columns)
        words = self.tr("Values from {0} to {1}; the largest is in row {2}, column {3}.")
        low, high = (float(end(self._map[known])) for end in (np.min, np.max))
        ends = (theme.format_number(each, digits=3) for each in (low, high))
        self.setAccessibleDescription(words.format(*ends, row, column))


def _hatching(color: QColor) -> QBrush:
    return QBrush(color, Qt.BrushStyle.BDiagPattern)
