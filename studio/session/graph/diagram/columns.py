"""Forward, backward and updates next to each other: gradients at the height of what they are of, going up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from studio.session.graph.diagram.coordinates import placed
from studio.session.graph.diagram.layered import Layout, Point

_ROW_GAP = 34.0


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
