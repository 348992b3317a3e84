"""Sums of powers and of Chebyshev polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def horner(x: Any, coefficients: Sequence[float]) -> Any:
    """The polynomial with ``coefficients`` (highest power first) at x."""
    total = x * coefficients[0]
    total += coefficients[1]
    for c in coefficients[2:]:
        total *= x
        total += c
    return total


def chebyshev(t: Any, coefficients: Sequence[float]) -> Any:
    """c[0] / 2 + sum of c[k] T_k(t) for t in [-1, 1], by Clenshaw's recurrence."""
    twice = 2.0 * t
    last = before = 0.0 * t
    for c in reversed(coefficients[1:]):
        last, before = twice * last - before + c, last
    return t * last - before + 0.5 * coefficients[0]
