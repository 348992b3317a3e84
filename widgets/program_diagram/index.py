"""SceneIndex: finds the boxes and edges of a scene that are in a rectangle or under a point. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from widgets.program_diagram.scene import Scene
from widgets.program_diagram.view import Bounds

Rows = NDArray[np.intp]
# Edges are found when they pass a point by at most so many pixels of the screen.
NEAR = 5.0


class SceneIndex:
    """Comparisons of whole arrays: 100,000 boxes take a fifth of a millisecond, less than a grid's upkeep."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.left, self.top, wide, high = np.ascontiguousarray(scene.boxes.T)
        self.right, self.bottom = self.left + wide, self.top + high
        self.count = len(scene.ids)
        self.edge_count = len(scene.edge_ends)
        self.points = np.asarray(scene.edge_points, np.float64)
        self.starts = np.asarray(scene.edge_starts, np.int64)

    @cached_property
    def _row_of(self) -> dict[int, int]:
        return {node: row for row, node in enumerate(self.scene.ids.tolist())}

    def row(self, node: int | None) -> int | None:
        """The row of a node; None where the scene has no box for it."""
        return None if node is None else self._row_of.get(node)

    def rows(self, nodes: Iterable[int]) -> Rows:
        """The rows of those nodes that have a box, ascending."""
        found = (self._row_of.get(node) for node in nodes)
        return np.array(sorted({row for row in found if row is not None}), np.intp)

    def box(self, row: int) -> Bounds:
        """Where a box is."""
        return Bounds(
            float(self.left[row]), float(self.top[row]), float(self.right[row]), float(self.bottom[row])
        )

    def bounds(self, rows: Rows) -> Bounds:
        """The rectangle around some boxes, at least one."""
        return Bounds(
            float(self.left[rows].min()),
            float(self.top[rows].min()),
            float(self.right[rows].max()),
            float(self.bottom[rows].max()),
        )

    @cached_property
    def whole(self) -> Bounds:
        """The rectangle around everything."""
        return Bounds(0.0, 0.0, max(1.0, float(self.scene.width)), max(1.0, float(self.scene.height)))

    def boxes_in(self, part: Bounds) -> Rows:
        """The rows of the boxes that are at least partly in a rectangle, frames before their children."""
        return np.flatnonzero(
            (self.left < part.right)
            & (self.right > part.left)
            & (self.top < part.bottom)
            & (self.bottom > part.top)
        )

    @cached_property
    def _edge_sides(self) -> tuple[NDArray[np.float64], ...]:
        starts = self.starts[:-1]
        if not len(starts):
            nothing = np.zeros(0)
            return nothing, nothing, nothing, nothing
        low, high = (np.minimum, np.maximum)
        return (
            low.reduceat(self.points[:, 0], starts),
            low.reduceat(self.points[:, 1], starts),
            high.reduceat(self.points[:, 0], starts),
            high.reduceat(self.points[:, 1], starts),
        )

    def edges_in(self, part: Bounds, least: float = 0.0) -> Rows:
        """The edges whose surrounding rectangles meet a rectangle, without those shorter than ``least``."""
        left, top, right, bottom = self._edge_sides
        found = (left <= part.right) & (right >= part.left) & (top <= part.bottom) & (bottom >= part.top)
        if least:
            found &= (right - left) + (bottom - top) >= least
        return np.flatnonzero(found)

    def segments(self, edges: Rows) -> Rows:
        """The points of edges at which a straight part begins."""
        if not len(edges):
            return np.zeros(0, np.intp)
        counts = np.maximum(np.diff(self.starts)[edges] - 1, 0)
        ends = np.cumsum(counts)
        return np.arange(ends[-1]) + np.repeat(self.starts[edges] - (ends - counts), counts)

    def edges_of(self, rows: Rows) -> Rows:
        """The edges that begin or end at one of the boxes."""
        if not self.edge_count or not len(rows):
            return np.zeros(0, np.intp)
        joined = np.zeros(self.count, bool)
        joined[rows] = True
        return np.flatnonzero(joined[self.scene.edge_ends].any(axis=1))

    def crossed(self, edges: Rows, part: Bounds) -> Rows:
        """The boxes in a rectangle that the surrounding rectangle of one of the edges meets."""
        left, top, right, bottom = (sides[edges, None] for sides in self._edge_sides)
        rows = self.boxes_in(part)
        met = (left <= self.right[rows]) & (right >= self.left[rows])
        met &= (top < self.bottom[rows]) & (bottom > self.top[rows])
        return rows[met.any(axis=0)]

    def line(self, edge: int) -> NDArray[np.float64]:
        """The points of an edge."""
        return self.points[self.starts[edge] : self.starts[edge + 1]]

    def box_at(self, x: float, y: float) -> int | None:
        """The innermost box at a point of the scene."""
        found = np.flatnonzero((self.left <= x) & (x <= self.right) & (self.top <= y) & (y <= self.bottom))
        return int(found[-1]) if len(found) else None

    def edge_at(self, x: float, y: float, reach: float) -> int | None:
        """The edge that passes a point of the scene most closely, at most ``reach`` away."""
        near = Bounds(x - reach, y - reach, x + reach, y + reach)
        best, found = reach, None
        for edge in self.edges_in(near).tolist():
            line = self.line(edge)
            away = _distance(line[:-1], line[1:], x, y)
            if away <= best:
                best, found = away, edge
        return found

    @cached_property
    def _frames(self) -> Rows:
        return np.flatnonzero(self.scene.opened)

    def frames_around(self, row: int) -> list[int]:
        """The rows of the opened frames that a box is in, the outermost first."""
        outer = self._frames[: int(np.searchsorted(self._frames, row))]
        found = (self.left[outer] <= self.left[row]) & (self.right[outer] >= self.right[row])
        found &= (self.top[outer] <= self.top[row]) & (self.bottom[outer] >= self.bottom[row])
        rows: list[int] = outer[found].tolist()
        return rows

    def first_within(self, row: int) -> int | None:
        """The row of the first box in an opened frame."""
        following = row + 1
        if not self.scene.opened[row] or following >= self.count:
            return None
        return following if row in self.frames_around(following) else None

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """For each opened frame the number of frames around it; 0 for all other boxes."""
        depths = np.zeros(self.count, np.int64)
        for row in self._frames.tolist():
            depths[row] = len(self.frames_around(row))
        return depths


def both(rows: Rows, others: Rows, count: int) -> Rows:
    """Those of the rows that are among the others, of ``count`` in all.

    NumPy's own set functions import ``numpy.ma`` first, for which the window would stand still.
    """
    found = np.zeros(count, bool)
    found[others] = True
    return rows[found[rows]]


def _distance(begin: NDArray[np.float64], end: NDArray[np.float64], x: float, y: float) -> float:
    """How far a point is from the nearest of some segments."""
    if not len(begin):
        return float("inf")
    along = end - begin
    at = np.array([x, y]) - begin
    length = np.maximum((along**2).sum(axis=1), 1e-12)
    share = np.clip((at * along).sum(axis=1) / length, 0.0, 1.0)
    return float(np.sqrt(((at - share[:, None] * along) ** 2).sum(axis=1)).min())
