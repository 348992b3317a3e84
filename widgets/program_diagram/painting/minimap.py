"""Minimap: the whole scene in a corner, with the part that is in view."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from widgets import theme
from widgets.program_diagram.painting.scene_painter import ScenePainter, paint_all
from widgets.program_diagram.view import View

_WIDE, _HIGH, _INSIDE = 168.0, 128.0, 5.0
_SHARE = 0.3  # of the screen, at most
_LEAST_SCREEN = (300.0, 220.0)


class Minimap:
    """An image of the scene, made when it is first painted."""

    def __init__(self, painter: ScenePainter) -> None:
        self._painter = painter
        self._image: QPixmap | None = None
        self._made_for = (QSizeF(), 0.0)

    def area(self, wide: float, high: float) -> QRectF:
        """Where the map is on a screen of a size."""
        whole = self._painter.index.whole
        scale = min(
            min(_WIDE, _SHARE * wide) / whole.width,
            min(_HIGH, _SHARE * high) / whole.height,
        )
        map_wide, map_high = max(24.0, whole.width * scale), max(24.0, whole.height * scale)
        box_wide, box_high = map_wide + 2 * _INSIDE, map_high + 2 * _INSIDE
        return QRectF(wide - box_wide - theme.SPACE_S, high - box_high - theme.SPACE_S, box_wide, box_high)

    def is_shown(self, view: View, wide: float, high: float) -> bool:
        """Whether there is more than what is in view, and room for the map."""
        if not self._painter.index.count or wide < _LEAST_SCREEN[0] or high < _LEAST_SCREEN[1]:
            return False
        return not view.seen(wide, high).grown(1.0 / view.zoom).contains(self._painter.index.whole)

    def _map_view(self, area: QRectF) -> View:
        inner = area.adjusted(_INSIDE, _INSIDE, -_INSIDE, -_INSIDE)
        whole = self._painter.index.whole
        inside = View.fitting(whole, inner.width(), inner.height(), most=1.0, margin=0.0)
        return inside.moved(inner.left(), inner.top())

    def point(self, at: QPointF, wide: float, high: float) -> tuple[float, float]:
        """The point of the scene under a point of the map."""
        return self._map_view(self.area(wide, high)).to_scene(at.x(), at.y())

    def _drawn(self, area: QRectF, view: View, ratio: float) -> QPixmap:
        if self._image is None or self._made_for != (area.size(), ratio):
            image = QPixmap(round(area.width() * ratio), round(area.height() * ratio))
            image.setDevicePixelRatio(ratio)
            image.fill(QColor(theme.current().panel))
            painter = QPainter(image)
            inside = view.moved(-area.left(), -area.top())
            paint_all(painter, self._painter.overview(inside))
            painter.end()
            self._image, self._made_for = image, (area.size(), ratio)
        return self._image

    def paint(self, painter: QPainter, view: View, wide: float, high: float, ratio: float) -> None:
        """Paint the map and the frame of what is in view."""
        tokens, area = theme.current(), self.area(wide, high)
        map_view = self._map_view(area)
        painter.drawPixmap(area.topLeft(), self._drawn(area, map_view, ratio))
        seen = view.seen(wide, high)
        left, top = map_view.to_screen(seen.left, seen.top)
        right, bottom = map_view.to_screen(seen.right, seen.bottom)
        frame = QRectF(QPointF(left, top), QPointF(right, bottom)).intersected(
            area.adjusted(1.5, 1.5, -1.5, -1.5)
        )
        shade = QColor(tokens.accent)
        shade.setAlphaF(0.14)
        painter.setPen(QPen(QColor(tokens.accent), 1.5))
        painter.setBrush(shade)
        painter.drawRect(frame)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.mix(tokens.line, tokens.mute, 0.5), 1.0))
        painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
