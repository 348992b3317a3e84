"""View: which part of a scene is seen, and how large. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MOST_ZOOM = 4.0
MARGIN = 24.0
# The smallest zoom at which titles are written, and at which they can be read well.
DETAILED, READABLE = 0.45, 0.65


class Bounds(NamedTuple):
    """A rectangle by its sides."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def grown(self, by: float) -> Bounds:
        """The same with a margin on each side."""
        return Bounds(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def meets(self, other: Bounds) -> bool:
        """Whether the rectangles have a part in common."""
        across = self.left < other.right and self.right > other.left
        return across and self.top < other.bottom and self.bottom > other.top

    def contains(self, other: Bounds) -> bool:
        """Whether all of ``other`` is within."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


@dataclass(frozen=True)
class View:
    """A point of the scene is on the screen at ``zoom`` times its place plus ``x`` and ``y``."""

    x: float = 0.0
    y: float = 0.0
    zoom: float = 1.0

    @classmethod
    def fitting(
        cls, part: Bounds, wide: float, high: float, most: float = 1.0, margin: float = MARGIN
    ) -> View:
        """All of a part of the scene in the middle of a screen, at ``most`` so large."""
        room_wide, room_high = max(1.0, wide - 2 * margin), max(1.0, high - 2 * margin)
        zoom = min(room_wide / max(part.width, 1e-6), room_high / max(part.height, 1e-6), most)
        return cls().centered((part.left + part.right) / 2, (part.top + part.bottom) / 2, wide, high, zoom)

    @classmethod
    def beginning(cls, whole: Bounds, first: Bounds, wide: float, high: float) -> View:
        """The first view of a scene: all of it where its titles can be read then, else its top around the
        first box."""
        fitting = cls.fitting(whole, wide, high)
        if fitting.zoom >= READABLE:
            return fitting
        across = (wide - 2 * MARGIN) / max(whole.width, 1e-6)
        zoom = min(1.0, max(READABLE, across))
        if across >= zoom:
            x = wide / 2 - (whole.left + whole.right) / 2 * zoom
        else:
            x = wide / 2 - (first.left + first.right) / 2 * zoom
            x = min(max(x, wide - MARGIN - whole.right * zoom), MARGIN - whole.left * zoom)
        is_far = (first.bottom - whole.top) * zoom > high - 2 * MARGIN
        return cls(x, MARGIN - (first.top if is_far else whole.top) * zoom, zoom)

    def centered(self, x: float, y: float, wide: float, high: float, zoom: float | None = None) -> View:
        """With a point of the scene in the middle of the screen."""
        zoom = self.zoom if zoom is None else zoom
        return View(wide / 2 - x * zoom, high / 2 - y * zoom, zoom)

    def placed(self, x: float, y: float, screen_x: float, screen_y: float) -> View:
        """With a point of the scene at a point of the screen."""
        return View(screen_x - x * self.zoom, screen_y - y * self.zoom, self.zoom)

    def to_scene(self, x: float, y: float) -> tuple[float, float]:
        """The point of the scene at a point of the screen."""
        return (x - self.x) / self.zoom, (y - self.y) / self.zoom

    def to_screen(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the scene is on the screen."""
        return x * self.zoom + self.x, y * self.zoom + self.y

    def seen(self, wide: float, high: float) -> Bounds:
        """The part of the scene that a screen shows."""
        return Bounds(*self.to_scene(0.0, 0.0), *self.to_scene(wide, high))

    def moved(self, dx: float, dy: float) -> View:
        """The scene moved on the screen."""
        return View(self.x + dx, self.y + dy, self.zoom)

    def zoomed(self, zoom: float, x: float, y: float) -> View:
        """At another zoom, the point under a point of the screen stays where it is."""
        factor = zoom / self.zoom
        return View(x + (self.x - x) * factor, y + (self.y - y) * factor, zoom)

    def clamped(self, whole: Bounds, wide: float, high: float, edge: float = 64.0) -> View:
        """Moved so that some of the scene is seen."""
        left, top = self.to_screen(whole.left, whole.top)
        right, bottom = self.to_screen(whole.right, whole.bottom)
        edge_x, edge_y = min(edge, wide / 2), min(edge, high / 2)
        dx = max(0.0, edge_x - right) + min(0.0, wide - edge_x - left)
        dy = max(0.0, edge_y - bottom) + min(0.0, high - edge_y - top)
        return self.moved(dx, dy) if dx or dy else self
