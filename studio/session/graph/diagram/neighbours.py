"""The boxes next to a box of a scene: where its edges lead, and what is at its height."""

from __future__ import annotations

import numpy as np

from studio.session.graph.diagram.scene import Scene

_DIRECTIONS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def neighbours(scene: Scene, node: int, direction: str) -> list[int]:
    """The nodes in a direction ("up", "down", "left", "right"), nearest first: those at the other ends of the
    edges on that side of the box, then, to the left and right, the others at its height."""
    rows = np.nonzero(scene.ids == node)[0]
    if not len(rows) or direction not in _DIRECTIONS:
        return []
    row = int(rows[0])
    across, down = _DIRECTIONS[direction]
    found: list[int] = []
    for edge in np.nonzero((scene.edge_ends == row).any(1))[0].tolist():
        points = scene.edge_points[scene.edge_starts[edge] : scene.edge_starts[edge + 1]]
        if len(points) < 2:
            continue
        begins = scene.edge_ends[edge, 0] == row
        x, y = (points[1] - points[0] if begins else points[-2] - points[-1]).tolist()
        vertical = y != 0  # an edge meets the top or bottom of a box unless it is level
        if (vertical and down * y > 0) or (not vertical and across * x > 0):
            found.append(int(scene.edge_ends[edge, 1 if begins else 0]))
    left, top, width, height = scene.boxes.T
    x, y = left + width / 2, top + height / 2
    found = sorted(set(found), key=lambda n: abs(x[n] - x[row]) + abs(y[n] - y[row]))
    if across:
        level = (top < top[row] + height[row]) & (top + height > top[row]) & ~scene.opened
        level &= across * (x - x[row]) > 0
        others = np.nonzero(level)[0]
        others = others[np.argsort(np.abs(x[others] - x[row]), kind="stable")]
        found += [n for n in others.tolist() if n not in found]
    return [int(scene.ids[n]) for n in found]
