"""The y range of a chart that a few extreme values can't flatten. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FENCE = 3.0  # quartile distances beyond the quartiles, where a value is far out (Tukey 1977)
FAR = 1000.0  # a curve so many times larger than the next smaller one doesn't set the range
FEWEST = 5  # curves from which one may be far out among the others
ROOM = 0.5  # of the third quartile of their ends: curves of nearly one size are not far out
FLAT = 2.0  # whole heights of the range that must lie outside before anything is omitted


def whole_range(curves: Sequence[Floats]) -> tuple[float, float] | None:
    """The least and the greatest finite value; None if there is none."""
    finite = [values[np.isfinite(values)] for values in curves]
    ends = [(float(values.min()), float(values.max())) for values in finite if len(values)]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None


def robust_range(curves: Sequence[Floats]) -> tuple[float, float] | None:
    """The whole range, or less of it where the rest would be flattened by what lies far out.

    For each curve: from the 25th to the 75th percentile of its finite values and three times their distance
    to both sides, with its first value in any case (a training begins where it begins). Curves a thousand
    times larger than the others don't count, nor, of five or more, those whose end is as far beyond the
    quartiles of all ends. A side is cut only where the omitted part would take twice
    the height of all that stays.
    """
    whole = whole_range(curves)
    if whole is None:
        return None
    of_one_size = _of_a_size(
        [_fenced(values[np.isfinite(values)]) for values in curves if np.isfinite(values).any()]
    )
    low = min(_near([low for low, _ in of_one_size]))
    high = max(_near([high for _, high in of_one_size]))
    height = high - low
    return (
        low if low - whole[0] > FLAT * height else whole[0],
        high if whole[1] - high > FLAT * height else whole[1],
    )


def _near(ends: list[float]) -> list[float]:
    """The ends of curves that are not far out among the others."""
    if len(ends) < FEWEST:
        return ends
    values = np.array(ends)
    first, third = _at_share(values, 0.25), _at_share(values, 0.75)
    reach = FENCE * max(third - first, ROOM * max(abs(first), abs(third)))
    return [end for end in ends if first - reach <= end <= third + reach]


def _fenced(values: Floats) -> tuple[float, float]:
    with np.errstate(over="ignore"):
        first, third = _at_share(values, 0.25), _at_share(values, 0.75)
        reach = FENCE * max(third - first, 1e-3 * max(abs(first), abs(third)))
    begin = values[:2]  # of a dense curve the least and the greatest of its first stretch
    low = min(float(begin.min()), max(float(values.min()), first - reach))
    return low, max(float(begin.max()), min(float(values.max()), third + reach))


def _at_share(values: Floats, share: float) -> float:
    """The value below which that share of them lies, as np.percentile, which imports numpy.ma: the window
    would stand still for 60 ms."""
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    low, high = np.partition(values, (below, above))[[below, above]].tolist()
    return float(low + (high - low) * (place - below))


def _of_a_size(ranges: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those before the first jump in size."""
    ordered = sorted(ranges, key=_size)
    of_one_size = ordered[:1]
    for one in ordered[1:]:
        if _size(of_one_size[-1]) > 0 and _size(one) > FAR * _size(of_one_size[-1]):
            break
        of_one_size.append(one)
    return of_one_size


def _size(one: tuple[float, float]) -> float:
    return max(abs(one[0]), abs(one[1]))
