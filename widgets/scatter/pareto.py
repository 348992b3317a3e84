"""The Pareto front of points: those that no other point beats in both of two quantities. No Qt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pareto_front(
    xs: NDArray[np.float64], ys: NDArray[np.float64], more_x: bool, more_y: bool
) -> NDArray[np.int64]:
    """The positions of the points on the front, from the best x to the best y.

    A point is on it if no other point is at least as good in both and better in one. Points that are not
    finite are not on it; of equal points all are.

    Args:
        more_x, more_y: whether more is better.
    """
    places = np.flatnonzero(np.isfinite(xs) & np.isfinite(ys))
    costs_x = -xs[places] if more_x else xs[places]
    costs_y = -ys[places] if more_y else ys[places]
    order = np.lexsort((costs_y, costs_x))
    found: list[int] = []
    best, best_x = np.inf, np.nan
    for place in order.tolist():
        if costs_y[place] < best:
            best, best_x = costs_y[place], costs_x[place]
        elif costs_y[place] != best or costs_x[place] != best_x:
            continue
        found.append(int(places[place]))
    return np.array(found, np.int64)
