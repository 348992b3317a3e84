"""Forward, backward and updates next to each other: gradients at the height of what they are of, going up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from studio.session.graph.diagram.coordinates import placed
from studio.session.graph.diagram.layered import Layout, Point

_ROW_GAP = 34.0
_LANE = 7.0
_MOST_LANES = 16
_APART = 12.0  # edges that follow each other in a lane
_LEAST_CORRIDOR = 40.0

Box = tuple[float, float, float, float]


def flipped(layout: Layout, sizes: Sequence[Point]) -> Layout:
    """The layout upside down: edges go up."""
    whole = layout.height
    return Layout(
        layout.width,
        whole,
        tuple((x, whole - y - height) for (x, y), (_, height) in zip(layout.places, sizes, strict=True)),
        tuple(tuple((x, whole - y) for x, y in route) for route in layout.routes),
    )


def stretched(layout: Layout, sizes: Sequence[Point], wanted: Mapping[int, float]) -> tuple[Layout, float]:
    """The layout with its rows as near to where its nodes want their middles as their order allows; and how
    far above 0 it begins."""
    rows = _rows(layout, sizes)
    if not wanted or not rows:
        return layout, 0.0
    tops, weights = [], []
    before = 0.0
    for n, (top, _, nodes) in enumerate(rows):
        moves = [
            wanted[node] - layout.places[node][1] - sizes[node][1] / 2 for node in nodes if node in wanted
        ]
        if moves:
            before = sum(moves) / len(moves)
        elif n == 0:
            before = next(
                (
                    wanted[node] - layout.places[node][1] - sizes[node][1] / 2
                    for _, _, others in rows
                    for node in others
                    if node in wanted
                ),
                0.0,
            )
        tops.append(top + before)
        weights.append(float(len(moves)) or 0.01)
    gaps = [bottom - top + _ROW_GAP for top, bottom, _ in rows[:-1]]
    found = placed(tops, weights, gaps)
    start = found[0]
    old = [edge for top, bottom, _ in rows for edge in (top, bottom)]
    new = [
        edge
        for (top, bottom, _), at in zip(rows, found, strict=True)
        for edge in (at - start, at - start + bottom - top)
    ]

    def moved(y: float) -> float:
        if y <= old[0]:
            return new[0] + y - old[0]
        for n in range(1, len(old)):
            if y <= old[n]:
                share = (y - old[n - 1]) / max(old[n] - old[n - 1], 1e-9)
                return new[n - 1] + share * (new[n] - new[n - 1])
        return new[-1] + y - old[-1]

    result = Layout(
        layout.width,
        new[-1],
        tuple((x, moved(y)) for x, y in layout.places),
        tuple(tuple((x, moved(y)) for x, y in route) for route in layout.routes),
    )
    return result, start


def _rows(layout: Layout, sizes: Sequence[Point]) -> list[tuple[float, float, list[int]]]:
    """Top, bottom and nodes of each row: what overlaps in height moves together."""
    rows: list[tuple[float, float, list[int]]] = []
    order = sorted(range(len(layout.places)), key=lambda node: layout.places[node][1])
    for node in order:
        top = layout.places[node][1]
        bottom = top + sizes[node][1]
        if rows and top < rows[-1][1]:
            first, last, nodes = rows[-1]
            nodes.append(node)
            rows[-1] = (first, max(last, bottom), nodes)
        else:
            rows.append((top, bottom, [node]))
    return rows


def corridor(edges: int) -> float:
    """How wide the space before a column is that so many edges enter from the side."""
    return _LEAST_CORRIDOR + _LANE * min(edges, _MOST_LANES)


@dataclass(frozen=True)
class SideEdge:
    """An edge between two columns: its number, its two boxes, and the left end of the space for its lane."""

    number: int
    source: int
    target: int
    to_right: bool
    corridor: float


def side_routes(edges: Iterable[SideEdge], boxes: Mapping[int, Box]) -> dict[int, list[Point]]:
    """The corners of edges between columns: out at one side, along a lane, in at the other side.

    Edges of one box share a lane; those that overlap in height take others.
    """
    edges = list(edges)
    starts = {edge.number: _middle(boxes[edge.source]) for edge in edges}
    ends = _ends(edges, boxes, starts)
    spans: dict[tuple[float, int], list[float]] = {}
    for edge in edges:
        spans.setdefault((edge.corridor, edge.source), []).extend((starts[edge.number], ends[edge.number]))
    lanes: dict[tuple[float, int], float] = {}
    taken: dict[float, list[float]] = {}
    for key in sorted(spans, key=lambda key: (min(spans[key]), key)):
        low, high = min(spans[key]), max(spans[key])
        if high - low < 1:
            lanes[key] = key[0] + _LEAST_CORRIDOR / 2
            continue
        used = taken.setdefault(key[0], [])
        lane = next((n for n, end in enumerate(used) if end + _APART < low), len(used))
        if lane == len(used):
            used.append(high)
        used[lane] = high
        lanes[key] = key[0] + _LEAST_CORRIDOR / 2 + _LANE * (lane % _MOST_LANES)
    found = {}
    for edge in edges:
        (left, _, width, _), (other_left, _, other_width, _) = boxes[edge.source], boxes[edge.target]
        start_x = left + width if edge.to_right else left
        end_x = other_left if edge.to_right else other_left + other_width
        start, end = starts[edge.number], ends[edge.number]
        lane_x = lanes[edge.corridor, edge.source]
        points = [(start_x, start), (end_x, end)]
        if abs(start - end) >= 1:
            points[1:1] = [(lane_x, start), (lane_x, end)]
        found[edge.number] = points
    return found


def _middle(box: Box) -> float:
    return box[1] + min(box[3] / 2, 400.0)


def _ends(
    edges: Iterable[SideEdge], boxes: Mapping[int, Box], starts: Mapping[int, float]
) -> dict[int, float]:
    """Where each edge meets the side of its box: straight if it can, else spread in the order of sources."""
    arriving: dict[tuple[int, bool], list[tuple[float, int]]] = {}
    for edge in edges:
        arriving.setdefault((edge.target, edge.to_right), []).append((starts[edge.number], edge.number))
    found = {}
    for (target, _), group in arriving.items():
        _, top, _, height = boxes[target]
        group.sort()
        step = min(8.0, 0.7 * height / len(group))
        for n, (start, number) in enumerate(group):
            end = _middle(boxes[target]) + (n - (len(group) - 1) / 2) * step
            found[number] = (
                start
                if abs(start - end) < step / 2 or (len(group) == 1 and top + 6 < start < top + height - 6)
                else end
            )
    return found
