"""The edges between the columns of a diagram: out at a side, along a lane between columns, in at a side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from studio.session.graph.diagram.layered import Point

_LANE = 7.0
_MOST_LANES = 16
_APART = 12.0  # edges that follow each other in a lane
_LEAST_CORRIDOR = 40.0
_ASIDE = 7.0  # from a box to where an edge turns that goes around others
_ROUND = 9.0
_TRIED = 60

Box: TypeAlias = tuple[float, float, float, float]


def corridor(edges: int) -> float:
    """How wide the space before a column is that so many edges enter from the side."""
    return _LEAST_CORRIDOR + _LANE * min(edges, _MOST_LANES)


@dataclass(frozen=True)
class SideEdge:
    """An edge between two columns: its number, its two boxes, and the left ends of the spaces for its lanes,
    from the source on: one, and one more for each column between."""

    number: int
    source: int
    target: int
    to_right: bool
    corridors: tuple[float, ...]


def side_routes(
    edges: Iterable[SideEdge], boxes: Mapping[int, Box], closed: Sequence[Box]
) -> dict[int, list[Point]]:
    """The corners of edges between columns, around the ``closed`` boxes where there is a way.

    Edges of one box share a lane; those that overlap in height take others.
    """
    return _Router(list(edges), boxes, closed).routes()


class _Router:
    def __init__(self, edges: list[SideEdge], boxes: Mapping[int, Box], closed: Sequence[Box]) -> None:
        self._edges = edges
        self._boxes = boxes
        left, top, width, height = np.array(closed, np.float64).reshape(-1, 4).T
        self._left, self._top, self._right, self._bottom = left, top, left + width, top + height
        self._free: dict[tuple[float, float, float], bool] = {}

    def routes(self) -> dict[int, list[Point]]:
        """By number of the edge."""
        starts = {edge.number: _middle(self._boxes[edge.source]) for edge in self._edges}
        ends = self._ends(starts)
        outs, levels, ins = {}, {}, {}
        for edge in self._edges:
            number, (first, last) = edge.number, (edge.corridors[0], edge.corridors[-1])
            source, target = self._boxes[edge.source], self._boxes[edge.target]
            outs[number] = self._way(source, starts[number], _lane(first, 0), edge.to_right)
            ins[number] = self._way(target, ends[number], _lane(last, 0), not edge.to_right)
            levels[number] = [outs[number][-1][1]]
            for here, there in pairwise(edge.corridors):
                levels[number].append(self._across(levels[number][-1], ins[number][-1][1], here, there))
            levels[number].append(ins[number][-1][1])
        lanes = self._lanes(levels)
        found = {}
        for edge in self._edges:
            points = list(outs[edge.number])
            for at, (y, next_y) in zip(edge.corridors, pairwise(levels[edge.number]), strict=True):
                lane = lanes[at, edge.source]
                points += [(lane, y), (lane, next_y)]
            found[edge.number] = _without_doubles([*points, *ins[edge.number][::-1]])
        return found

    def _across(self, before: float, after: float, here: float, there: float) -> float:
        """The height at which a column between two lanes is passed: at one of both ends, else where it is
        free."""
        low, high = min(here, there), max(here, there) + _LEAST_CORRIDOR / 2
        heights = (before, after, *self._gaps(low, high, after))
        return next((y for y in heights if self._is_free(y, low, high)), after)

    def _way(self, box: Box, y: float, middle: float, to_right: bool) -> list[Point]:
        """From the side of a box to the height at which the way to the lane is free: level, else above or
        below boxes between. Level if no way is found."""
        left, top, width, height = box
        side = left + width if to_right else left
        turn = side + _ASIDE if to_right else side - _ASIDE
        if self._is_free(y, side, middle):
            return [(side, y)]
        near = (top - _ROUND, top + height + _ROUND)
        for at in (*near, *self._gaps(min(turn, middle), max(turn, middle), y)):
            if self._is_free(at, turn, middle) and self._is_free_down(turn, y, at):
                return [(side, y), (turn, y), (turn, at)]
        return [(side, y)]

    def _gaps(self, low: float, high: float, y: float) -> list[float]:
        """Heights next to the boxes between two x, the nearest to ``y`` first."""
        between = (self._left < high) & (self._right > low)
        found = np.concatenate([self._top[between] - _ROUND, self._bottom[between] + _ROUND])
        found = np.unique(found.round(1))
        return [float(at) for at in found[np.argsort(np.abs(found - y))][:_TRIED]]

    def _is_free_down(self, x: float, start: float, end: float) -> bool:
        low, high = min(start, end), max(start, end)
        along = (self._top < high) & (self._bottom > low)
        return not bool((along & (self._left < x) & (self._right > x)).any())

    def _is_free(self, y: float, start: float, end: float) -> bool:
        low, high = min(start, end), max(start, end)
        key = y, low, high
        if key not in self._free:
            across = (self._left < high - 0.1) & (self._right > low + 0.1)
            self._free[key] = not bool((across & (self._top < y) & (self._bottom > y)).any())
        return self._free[key]

    def _lanes(self, levels: Mapping[int, list[float]]) -> dict[tuple[float, int], float]:
        """The x of the lane of each source in each corridor."""
        spans: dict[tuple[float, int], list[float]] = {}
        for edge in self._edges:
            for at, ends in zip(edge.corridors, pairwise(levels[edge.number]), strict=True):
                spans.setdefault((at, edge.source), []).extend(ends)
        lanes: dict[tuple[float, int], float] = {}
        taken: dict[float, list[float]] = {}
        for key in sorted(spans, key=lambda key: (min(spans[key]), key)):
            low, high = min(spans[key]), max(spans[key])
            number = 0
            if high - low >= 1:
                used = taken.setdefault(key[0], [])
                number = next((n for n, end in enumerate(used) if end + _APART < low), len(used))
                used[number : number + 1] = [high]
            lanes[key] = _lane(key[0], number)
        return lanes

    def _ends(self, starts: Mapping[int, float]) -> dict[int, float]:
        """Where each edge meets the side of its box: level if it can, else spread in the order of sources."""
        arriving: dict[tuple[int, bool], list[tuple[float, int]]] = {}
        for edge in self._edges:
            arriving.setdefault((edge.target, edge.to_right), []).append((starts[edge.number], edge.number))
        found = {}
        for (target, _), group in arriving.items():
            _, top, _, height = self._boxes[target]
            group.sort()
            step = min(8.0, 0.7 * height / len(group))
            for n, (start, number) in enumerate(group):
                end = _middle(self._boxes[target]) + (n - (len(group) - 1) / 2) * step
                alone = len(group) == 1 and top + 6 < start < top + height - 6
                found[number] = start if alone or abs(start - end) < step / 2 else end
        return found


def _lane(corridor: float, number: int) -> float:
    return corridor + _LEAST_CORRIDOR / 2 + _LANE * (number % _MOST_LANES)


def _middle(box: Box) -> float:
    return box[1] + min(box[3] / 2, 400.0)


def _without_doubles(points: list[Point]) -> list[Point]:
    """Without points between two others on one level or vertical line."""
    found: list[Point] = []
    for x, y in points:
        if found and abs(found[-1][0] - x) < 0.01 and abs(found[-1][1] - y) < 0.01:
            continue
        while len(found) > 1 and (
            abs(found[-1][0] - x) + abs(found[-2][0] - x) < 0.01
            or abs(found[-1][1] - y) + abs(found[-2][1] - y) < 0.01
        ):
            found.pop()
        found.append((x, y))
    return found
