"""Which points are in a rectangle or in an area drawn by hand. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]


def in_rectangle(points: NDArray[np.float64], first: Point, second: Point) -> NDArray[np.bool_]:
    """For [n, 2] points whether each is between two corners; NaN is not."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    with np.errstate(invalid="ignore"):
        return np.asarray(((points >= low) & (points <= high)).all(axis=1), bool)


def in_polygon(points: NDArray[np.float64], corners: Sequence[Point]) -> NDArray[np.bool_]:
    """For [n, 2] points whether each is inside the polygon (by the even-odd rule); NaN is not."""
    inside = np.zeros(len(points), bool)
    xs, ys = points[:, 0], points[:, 1]
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], *corners[:1]], strict=True):
        if y0 == y1:
            continue
        with np.errstate(invalid="ignore"):
            inside ^= ((ys < y0) != (ys < y1)) & (xs < (x1 - x0) * (ys - y0) / (y1 - y0) + x0)
    return inside
