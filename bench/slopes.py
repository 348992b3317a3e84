"""Slopes of series that were measured over a long run, and whether they differ from zero.

Neighbouring measurements resemble each other, so a regression over all of them would promise too much. The
series is cut into 20 blocks in a row; the line goes through their means, and its standard error comes from
how the means scatter around it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

BLOCKS = 20
# The quantile 0.995 of Student's distribution by degrees of freedom, from 1: a series without a slope lies
# outside once in a hundred times, one of seven once in fifteen times.
_QUANTILES = (
    63.657,
    9.925,
    5.841,
    4.604,
    4.032,
    3.707,
    3.499,
    3.355,
    3.250,
    3.169,
    3.106,
    3.055,
    3.012,
    2.977,
    2.947,
    2.921,
    2.898,
    2.878,
)


@dataclass(frozen=True)
class Slope:
    """A slope with its standard error, both in units of the series for one unit of its places."""

    value: float
    error: float
    blocks: int

    @property
    def limit(self) -> float:
        """The largest size that chance explains, at the level of 1 %."""
        return _QUANTILES[self.blocks - 3] * self.error

    @property
    def is_zero(self) -> bool:
        """Whether the slope does not differ from zero, at the level of 1 %."""
        return abs(self.value) <= self.limit

    def scaled(self, factor: float) -> Slope:
        """The slope in other units."""
        return Slope(self.value * factor, self.error * abs(factor), self.blocks)


def slope(places: Sequence[float], values: Sequence[float], blocks: int = BLOCKS) -> Slope:
    """The slope of ``values`` over ``places``, by the means of blocks in a row.

    Raises ValueError for fewer than three measurements, unequal lengths, or more than 20 blocks.
    """
    count = len(values)
    blocks = min(blocks, count)
    if len(places) != count or not 3 <= blocks <= len(_QUANTILES) + 2:
        raise ValueError(
            f"slope: {len(places)} places, {count} values, {blocks} blocks; measure at least three times and "
            f"take 3 to {len(_QUANTILES) + 2} blocks"
        )
    edges = [count * n // blocks for n in range(blocks + 1)]
    parts = [slice(a, b) for a, b in itertools.pairwise(edges)]
    xs = [math.fsum(places[part]) / len(places[part]) for part in parts]
    ys = [math.fsum(values[part]) / len(values[part]) for part in parts]
    x_mean, y_mean = math.fsum(xs) / blocks, math.fsum(ys) / blocks
    spread = math.fsum((x - x_mean) ** 2 for x in xs)
    if spread == 0:
        raise ValueError("slope: all places are the same; measure at different times")
    value = math.fsum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / spread
    rest = math.fsum((y - y_mean - value * (x - x_mean)) ** 2 for x, y in zip(xs, ys, strict=True))
    return Slope(value, math.sqrt(rest / (blocks - 2) / spread), blocks)
