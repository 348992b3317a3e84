"""Round numbers for an axis, linear or logarithmic."""

from __future__ import annotations

import math


def nice_ticks(low: float, high: float, most: int) -> tuple[float, list[float]]:
    """A step of 1, 2, 2.5 or 5 times a power of ten and its multiples in [low, high], about `most`.

    At least two, since an axis with fewer numbers says nothing.
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return 1.0, []
    raw = span / max(1, most - 1)
    while True:
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last > first:
            return step, [k * step for k in range(first, last + 1)]
        raw /= 2


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two powers of ten, as logarithms: about ``most`` over several decades, several
    a decade where there are few."""
    inside = math.floor(high) - math.ceil(low) + 1
    decades = range(math.floor(low), math.ceil(high) + 1, max(1, -(-inside // most)))
    several, close = (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
    factors = (1,) if high - low > 3 else several if high - low > 0.6 else close
    values = [d + math.log10(f) for d in decades for f in factors]
    return [value for value in values if low <= value <= high]
