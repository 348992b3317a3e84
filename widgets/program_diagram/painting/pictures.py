"""Paints pictures on boxes that are large enough: they change with each sample, the boxes do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from widgets import theme
from widgets.program_diagram.index import SceneIndex
from widgets.program_diagram.painting.shapes import TEXT_HIGH
from widgets.program_diagram.picture import Picture
from widgets.program_diagram.view import Bounds, View
from widgets.tensor_view.data import Counts, Planes
from widgets.tensor_view.image_grid import image_of

LEAST = 48.0  # pixels of a box's height on the screen, below which it has no picture
_EDGE, _GAP = 6.0, 1  # around a picture; between two channels, in pixels of theirs
_MOST_ACROSS = 16
_FINE = 2  # pixels of a saved picture for one of the screen


class Pictures:
    """The pictures of nodes, and their channels as one image for each width that was asked for."""

    def __init__(self) -> None:
        self._pictures: Mapping[int, Picture] = {}
        self._strips: dict[tuple[int, int], QImage] = {}

    def set(self, pictures: Mapping[int, Picture]) -> None:
        """Other pictures, by node."""
        self._pictures = dict(pictures)
        self._strips.clear()

    def of(self, node: int) -> Picture | None:
        """That of a node."""
        return self._pictures.get(node)

    def outdate(self) -> None:
        """The colours are others now."""
        self._strips.clear()

    def paint(self, painter: QPainter, index: SceneIndex, view: View, seen: Bounds) -> None:
        """Paint those in view, on a painter of the screen."""
        if not self._pictures:
            return
        scene = index.scene
        rows = index.boxes_in(seen)
        high = (index.bottom[rows] - index.top[rows]) * view.zoom
        rows = rows[(high >= LEAST) & ~np.asarray(scene.opened)[rows]]
        painter.save()
        painter.setFont(theme.font(theme.SECTION_PX))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for row in rows.tolist():
            picture = self._pictures.get(int(scene.ids[row]))
            if picture is not None:
                self._paint(painter, int(scene.ids[row]), picture, _area(index, row, view))
        painter.restore()

    def strips(self, index: SceneIndex) -> Iterator[tuple[int, Picture, QImage | None]]:
        """The pictures of all closed boxes, with their channels as one image as for the scale 1, not larger
        than it is shown on a fine screen."""
        view, metrics = View(0.0, 0.0, 1.0), QFontMetricsF(theme.font(theme.SECTION_PX))
        for node, picture in self._pictures.items():
            row, strip, planes = index.row(node), None, picture.planes
            if row is None or index.scene.opened[row]:
                continue
            if planes is not None and planes.values.size:
                area = _area(index, row, view)
                line = _words_line(picture, area, metrics)
                area.setBottom(area.bottom() if line is None else line.top() - 2)
                strip = strip_of(planes, _across(planes, area))
                most = (area.size() * _FINE).toSize()
                if strip.height() > most.height() or strip.width() > most.width():
                    strip = strip.scaled(
                        most.expandedTo(QSize(1, 1)),
                        Qt.AspectRatioMode.KeepAspectRatio,
                        Qt.TransformationMode.SmoothTransformation,
                    )
            yield node, picture, strip

    def _paint(self, painter: QPainter, node: int, picture: Picture, area: QRectF) -> None:
        if area.width() < 8 or area.height() < 6:
            return
        tokens = theme.current()
        metrics = QFontMetricsF(painter.font())
        line = _words_line(picture, area, metrics)
        if line is not None:
            painter.fillRect(line.adjusted(-2, 0, 2, 0), QColor(tokens.panel))
            painter.setPen(QColor(tokens.mute))
            words = metrics.elidedText(picture.words, Qt.TextElideMode.ElideRight, area.width())
            painter.drawText(line, Qt.AlignmentFlag.AlignCenter, words)
            area.setBottom(line.top() - 2)
        if picture.planes is not None and picture.planes.values.size:
            self._paint_channels(painter, node, picture.planes, area)
        elif picture.counts is not None and picture.counts.counts:
            _paint_counts(painter, picture.counts, area)

    def _paint_channels(self, painter: QPainter, node: int, planes: Planes, area: QRectF) -> None:
        across = _across(planes, area)
        strip = self._strips.get((node, across))
        if strip is None:
            strip = self._strips[node, across] = strip_of(planes, across)
        scale = min(area.height() / strip.height(), area.width() / strip.width())
        wide, high = strip.width() * scale, strip.height() * scale
        box = QRectF(area.center().x() - wide / 2, area.top(), wide, high)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, scale < 1)
        painter.drawImage(box, strip)


def _words_line(picture: Picture, area: QRectF, metrics: QFontMetricsF) -> QRectF | None:
    """Where the words of a picture are, at the bottom of its area; None where they do not fit."""
    high = metrics.height()
    if not picture.words or area.height() <= 2.5 * high:
        return None
    return QRectF(area.left(), area.bottom() - high, area.width(), high)


def _across(planes: Planes, area: QRectF) -> int:
    """How many channels are next to each other in an area."""
    count, rows, columns = planes.values.shape
    side = max(area.height(), 1.0) / rows
    return max(1, min(count, _MOST_ACROSS, int(area.width() / ((columns + _GAP) * side))))


def strip_of(planes: Planes, across: int) -> QImage:
    """The first channels next to each other, with clear columns between."""
    _, rows, columns = planes.values.shape
    strip = QImage(across * (columns + _GAP) - _GAP, rows, QImage.Format.Format_ARGB32_Premultiplied)
    strip.fill(Qt.GlobalColor.transparent)
    painter = QPainter(strip)
    for place in range(across):
        image = image_of(planes.values[place], planes.low, planes.high)
        painter.drawImage(place * (columns + _GAP), 0, image)
    painter.end()
    return strip


def _paint_counts(painter: QPainter, counts: Counts, area: QRectF) -> None:
    """Bars of a histogram; the highest has the whole height."""
    tokens = theme.current()
    painter.fillRect(area, QColor(tokens.panel))
    most, wide = max(counts.counts) or 1, area.width() / len(counts.counts)
    for place, count in enumerate(counts.counts):
        if count:
            high = max(1.0, area.height() * count / most)
            left = area.left() + place * wide
            painter.fillRect(
                QRectF(left, area.bottom() - high, max(1.0, wide - 1), high), QColor(tokens.accent)
            )


def _area(index: SceneIndex, row: int, view: View) -> QRectF:
    """Where the picture of a box is, on the screen: below the texts, in the lower half of a low box."""
    box = index.box(row)
    text = TEXT_HIGH if box.height >= 2 * TEXT_HIGH else box.height / 2
    left, top = view.to_screen(box.left, box.top + text)
    right, bottom = view.to_screen(box.right, box.bottom)
    edge = min(_EDGE * view.zoom, _EDGE)
    return QRectF(left + edge, top, right - left - 2 * edge, bottom - top - edge)
