"""Round numbers for an axis, linear or logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence

FEWEST = 3  # numbers of an axis
STEPS = (10, 5, 2.5, 2)  # steps of a linear axis, times a power of ten
_FACTORS = ((1,), (1, 3), (1, 2, 5))  # numbers of each decade


def nice_ticks(
    low: float, high: float, most: int, steps: Sequence[float] = STEPS
) -> tuple[float, list[float]]:
    """A step of 1, 2, 2.5 or 5 times a power of ten (``steps``) and about ``most`` multiples in [low, high].

    At least three where ``most`` allows it: fewer numbers say little about a curve.
    """
    span = high - low
    if not (math.isfinite(span) and span > 1e-290):
        return 1.0, []
    power = 10.0 ** math.floor(math.log10(span))
    found: list[tuple[float, list[float]]] = []
    while not found or len(found[-1][1]) <= most:
        for factor in steps:
            step = factor * power
            first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
            found.append((step, [k * step for k in range(first, last + 1)]))
        power /= 10
    enough = [each for each in found if len(each[1]) >= min(FEWEST, most)]
    return min(enough, key=lambda each: abs(len(each[1]) - most))


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two powers of ten, as logarithms: the coarsest that are enough for ``most``.

    Every so many decades, several in a decade where there are few, a linear scale in a part of one.
    """
    enough = max(min(FEWEST, most), most // 2)
    decades = range(math.floor(low), math.ceil(high) + 1)
    coarse = [[float(each) for each in decades if each % every == 0] for every in (64, 32, 16, 8, 4, 2)]
    fine = [[d + math.log10(f) for d in decades for f in factors] for factors in _FACTORS]
    for values in (*coarse, *fine):
        inside = [value for value in values if low <= value <= high]
        if len(inside) >= enough:
            return inside
    return [math.log10(value) for value in nice_ticks(10.0**low, 10.0**high, most)[1] if value > 0]
