"""ImageGrid: the channels of a tensor as images in a grid, in one scale of colours."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from resources.color_map import ABOVE, BELOW
from widgets import theme
from widgets.image_bytes import CopyMenu
from widgets.retranslated import Retranslated
from widgets.tensor_view.data import Planes

GAP, LEGEND = 8.0, 24.0
LEAST = 40.0  # pixels of the longer side of a channel, below which the grid scrolls


@dataclass(frozen=True)
class _Tiles:
    """``across`` tiles of ``width`` x ``height`` in each line, with ``title`` pixels above each image."""

    across: int
    lines: int
    width: float
    height: float
    title: float

    @property
    def line(self) -> float:
        return self.title + self.height + GAP


class ImageGrid(Retranslated, QAbstractScrollArea):
    """Shows ``Planes``. Values at and above zero go from black to white, negative ones have a colour map
    around zero; NaN and infinite values have colours that no number has. Pointing at a pixel shows it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._planes = Planes()
        self._images: list[QImage] = []
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumSize(120, 96)
        CopyMenu(self)
        theme.changed.connect(self._recolor)
        self.retranslate()

    def set_planes(self, planes: Planes) -> None:
        """Show these channels."""
        self._planes = planes
        self._recolor()
        self._fit()
        self.retranslate()

    def planes(self) -> Planes:
        """What is shown."""
        return self._planes

    # ----- where things are -----

    def _tiles(self) -> _Tiles:
        count, rows, columns = self._planes.values.shape
        room = QSize(self.viewport().width(), max(1, self.viewport().height() - round(LEGEND)))
        title = QFontMetricsF(theme.font(theme.SECTION_PX)).height() if self._planes.total > 1 else 0.0
        if not count or not rows or not columns:
            return _Tiles(1, 0, 0, 0, title)
        best: _Tiles | None = None
        for across in range(1, count + 1):
            lines = math.ceil(count / across)
            wide = (room.width() + GAP) / across - GAP
            high = (room.height() + GAP) / lines - GAP - title
            scale = min(wide / columns, high / rows)
            if scale > 0 and (best is None or scale * columns > best.width):
                best = _Tiles(across, lines, columns * scale, rows * scale, title)
        if best is None or max(best.width, best.height) < LEAST:
            scale = min(LEAST / max(rows, columns), room.width() / columns)
            across = max(1, int((room.width() + GAP) // (max(columns * scale, 30.0) + GAP)))
            best = _Tiles(across, math.ceil(count / across), columns * scale, rows * scale, title)
        return best

    def _box(self, tiles: _Tiles, plane: int) -> QRectF:
        line, place = divmod(plane, tiles.across)
        wide = max(tiles.width, 30.0) if tiles.across > 1 else tiles.width
        top = line * tiles.line + tiles.title - self.verticalScrollBar().value()
        return QRectF(place * (wide + GAP), top, tiles.width, tiles.height)

    def _fit(self) -> None:
        tiles, bar = self._tiles(), self.verticalScrollBar()
        room = self.viewport().height() - LEGEND
        bar.setPageStep(max(1, round(room)))
        bar.setSingleStep(max(1, round(tiles.line / 2)))
        bar.setRange(0, max(0, math.ceil(tiles.lines * tiles.line - GAP - room)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(360, 280)

    # ----- painting -----

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, planes, tiles = theme.current(), self._planes, self._tiles()
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), QColor(tokens.panel))
        if not self._images:
            painter.setPen(QColor(tokens.mute))
            painter.setFont(theme.font())
            area = self.viewport().rect()
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(area, flags, self.tr("This tensor has no values."))
            return
        room = QRectF(0, 0, self.viewport().width(), self.viewport().height() - LEGEND)
        painter.setFont(theme.font(theme.SECTION_PX))
        painter.setClipRect(room)
        for number, image in enumerate(self._images):
            box = self._box(tiles, number)
            if box.bottom() < 0 or box.top() - tiles.title > room.bottom():
                continue
            if tiles.title:
                painter.setPen(QColor(tokens.mute))
                title = QRectF(box.left(), box.top() - tiles.title, max(box.width(), 30.0), tiles.title)
                painter.drawText(title, Qt.AlignmentFlag.AlignLeft, str(planes.first + number))
            smaller = box.width() < image.width()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smaller)
            painter.drawImage(box, image)
        painter.setClipping(False)
        self._paint_legend(painter)

    def _paint_legend(self, painter: QPainter) -> None:
        tokens, planes = theme.current(), self._planes
        metrics = QFontMetricsF(painter.font())
        top, high = self.viewport().height() - LEGEND + 6, metrics.height()
        left = 0.0

        def words(text: str) -> None:
            nonlocal left
            wide = metrics.horizontalAdvance(text) + 1
            painter.setPen(QColor(tokens.mute))
            painter.drawText(QRectF(left, top, wide, high), Qt.AlignmentFlag.AlignLeft, text)
            left += wide + theme.SPACE_S

        if math.isfinite(planes.low):
            words(theme.format_number(planes.low, digits=3))
            ramp = np.linspace(planes.low, planes.high, 64, dtype=np.float32).reshape(1, 64)
            painter.drawImage(QRectF(left, top + 2, 96, high - 4), image_of(ramp, planes.low, planes.high))
            left += 96 + theme.SPACE_S
            words(theme.format_number(planes.high, digits=3))
        values = planes.values
        for color, present, name in (
            (tokens.bad, bool(np.isnan(values).any()), "NaN"),
            (tokens.warn, bool(np.isinf(values).any()), "\u00b1\u221e"),
        ):
            if present:
                painter.fillRect(QRectF(left, top + 2, high - 4, high - 4), QColor(color))
                left += high
                words(name)
        if planes.step > 1:
            words(self.tr("every {0}th pixel").format(planes.step))

    # ----- values under the pointer -----

    def value_at(self, at: QPointF) -> str:
        """Channel, row, column and value of the pixel at a point of the viewport; empty outside of images."""
        count, rows, columns = self._planes.values.shape
        tiles = self._tiles()
        for plane in range(count):
            box = self._box(tiles, plane)
            if box.contains(at) and at.y() < self.viewport().height() - LEGEND:
                row = min(rows - 1, int((at.y() - box.top()) / box.height() * rows))
                column = min(columns - 1, int((at.x() - box.left()) / box.width() * columns))
                value = theme.format_number(float(self._planes.values[plane, row, column]))
                step, channel = self._planes.step, self._planes.first + plane
                words = self.tr("channel {0}, row {1}, column {2}: {3}")
                return words.format(channel, row * step, column * step, value)
        return ""

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.value_at(QPointF(event.pos())), self)
            return True
        return super().viewportEvent(event)

    # ----- looks -----

    def _recolor(self) -> None:
        planes = self._planes
        self._images = [image_of(plane, planes.low, planes.high) for plane in planes.values if plane.size]
        self.viewport().update()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        planes = self._planes
        words = self.tr("{0} of {1} channels as images, {2} by {3} pixels")
        count, rows, columns = planes.values.shape
        self.setAccessibleName(words.format(count, planes.total, columns * planes.step, rows * planes.step))
        self.viewport().update()


def image_of(values: NDArray[np.float32], low: float, high: float) -> QImage:
    """A channel as an image; ``low`` and ``high`` are those of its scale of colours."""
    tokens = theme.current()
    black, white = (np.array(theme.rgb(color), np.float32) for color in (tokens.canvas, tokens.ink))
    rows, columns = values.shape
    if not math.isfinite(low):  # no value is finite
        low = high = 0.0
    finite = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)[..., None]
    if low < 0:
        reach = max(-low, high, 0.0) or 1.0
        share = np.clip(finite / np.float32(reach), -1, 1)
        blue, orange = (np.array(theme.rgb(color), np.float32) for color in (BELOW, ABOVE))
        rgb = black + np.where(share < 0, (blue - black) * -share, (orange - black) * share)
    else:
        span = high - low if high > low else 1.0
        share = np.clip((finite - np.float32(low)) / np.float32(span), 0, 1)
        rgb = black + (white - black) * share
    rgb[np.isnan(values)] = theme.rgb(tokens.bad)
    rgb[np.isinf(values)] = theme.rgb(tokens.warn)
    pixels = np.ascontiguousarray((rgb + 0.5).astype(np.uint8))
    made = QImage(pixels.tobytes(), columns, rows, 3 * columns, QImage.Format.Format_RGB888)
    return made.copy()  # Qt refers to the bytes, which are freed here
