"""Numbers of the Poisson distribution, drawn one after the other as ``std::poisson_distribution`` draws them.

Small means: how many uniform numbers can be multiplied before the product falls to exp(-mean). From 12 on:
rejection from a normal body and an exponential tail, L. Devroye, Non-Uniform Random Variate Generation
(1986), chapter X.3, with its errata.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from engine.core.random.draws import Draws

_REJECTION_FROM = 12
LARGEST = 2**31 - 1
"""The numbers that are drawn are smaller."""


def poisson_numbers(draws: Draws, means: Iterable[float]) -> list[int]:
    """A number for each of ``means``."""
    uniform = draws.one_by_one()
    return [
        _rejected(_Large.of(mean), uniform) if mean >= _REJECTION_FROM else _multiplied(mean, uniform)
        for mean in means
    ]


def _multiplied(mean: float, uniform: Iterator[float]) -> int:
    threshold, product, count = math.exp(-mean), 1.0, 0
    while True:
        product *= next(uniform)
        if product <= threshold:
            return count
        count += 1


class _Large(NamedTuple):
    """Values for a mean from 12 on: the areas of the pieces, one after the other, and the scales of two."""

    log_mean: float
    floor: float
    log_factorial: float
    body: float  # scale of the left half of the normal body
    right: float  # scale of its right half
    border: float  # where the tail begins
    inverse: float
    areas: tuple[float, ...]
    total: float

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(mean: float) -> _Large:
        m = math.floor(mean)
        border = math.sqrt(2 * m * math.log(32 * m / (math.pi / 4)))
        border = float(math.floor(max(6.0, min(m, border)) + 0.5))
        width = 2 * m + border
        inverse = 1 / width
        left = math.sqrt(m) * math.sqrt(math.pi / 2)
        right = left + math.sqrt(math.pi / 4 * width) * math.exp(inverse)
        tail = 2 * width * math.exp(-border * inverse * (1 + border / 2)) / border
        areas = (left, right, right + 1, right + 1 + 1, right + 1 + 1 + math.exp(1 / 78))
        return _Large(
            math.log(mean),
            m,
            math.lgamma(m + 1),
            math.sqrt(m),
            math.sqrt(width / 2),
            border,
            inverse,
            areas,
            tail + areas[-1],
        )


def _rejected(of: _Large, uniform: Iterator[float]) -> int:
    normal = _normal(uniform)
    left, right, minus, zero, one = of.areas
    while True:
        u = of.total * next(uniform)
        e = -math.log(1.0 - next(uniform))
        w = 0.0
        if u <= left:
            n = next(normal)
            x = math.floor(-abs(n) * of.body - 1)
            w = -n * n / 2
            if x < -of.floor:
                continue
        elif u <= right:
            y = 1 + abs(next(normal)) * of.right
            x = math.ceil(y)
            w = y * (2 - y) * of.inverse
            if x > of.border:
                continue
        elif u <= minus:
            x = -1
        elif u <= zero:
            x = 0
        elif u <= one:
            x, w = 1, 1.0 / 78
        else:
            v = -math.log(1.0 - next(uniform))
            y = of.border + v * (2 * (2 * of.floor + of.border)) / of.border
            x = math.ceil(y)
            w = -of.border * of.inverse * (1 + y / 2)
        accepted = w - e - x * of.log_mean <= of.log_factorial - math.lgamma(x + of.floor + 1)
        if accepted and x + of.floor < LARGEST:
            return int(x + of.floor)


def _normal(uniform: Iterator[float]) -> Iterator[float]:
    """Normal numbers by the polar method; both of a pair are used."""
    while True:
        x, y = 2.0 * next(uniform) - 1.0, 2.0 * next(uniform) - 1.0
        r2 = x * x + y * y
        if 0 < r2 <= 1:
            factor = math.sqrt(-2 * math.log(r2) / r2)
            yield y * factor
            yield x * factor
