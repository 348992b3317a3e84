"""Rows of the operators in ``engine/ops/elementwise/special.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, pos, row, s, unary_shapes
from tests.engine.ops.elementwise.references import IN, P, each, share
from tests.engine.ops.references import U


def _digamma(x: float) -> float:
    total = 0.0
    while x < 200.0:
        total -= 1.0 / x
        x += 1.0
    return total + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)


def _polygamma(x: float, n: int) -> float:
    total = 0.0
    while x < 400.0:
        total += x ** -(n + 1)
        x += 1.0
    total += x**-n / n + 0.5 * x ** -(n + 1) + (n + 1) / 12 * x ** -(n + 2)
    return (-1) ** (n + 1) * math.factorial(n) * total


def _bessel(order: int, scaled: bool = False) -> Any:
    """The integral over a full turn, which the trapezoidal rule gives to the last digit."""
    angle = 2 * np.pi * np.arange(400) / 400

    def function(x: float) -> float:
        value = float(np.mean(np.exp(x * np.cos(angle)) * np.cos(order * angle)))
        return value * math.exp(-abs(x)) if scaled else value

    return each(function)


def _erfinv(x: float) -> float:
    low, high = -6.0, 6.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < x else (low, middle)
    return low


def _logit(x: Any, eps: float = 0.0) -> Any:
    x = np.minimum(np.maximum(x, eps), 1 - eps) if eps else x
    return np.log(x / (1 - x))


SHARE = list(unary_shapes(share))


CASES: list[Case] = [
    # -- special functions
    *row("erf", each(math.erf), *U, grads="x"),
    *row("erfinv", each(_erfinv), *IN, grads="x"),
    *row("erfinv", lambda x: np.array([np.inf, -np.inf, np.nan]), s(np.array([1.0, -1.0, 1.5]))),
    *row("lgamma", each(math.lgamma), *P, s(np.array([-0.5, -2.3, 40.0, 1.0, 2.0])), grads="x"),
    *row("lgamma", lambda x: np.full(2, np.inf), s(np.array([0.0, -3.0])), s(np.array([-1e308, -np.inf]))),
    *row("digamma", each(_digamma), *P, s(np.array([-0.5, -2.3, 40.0])), grads="x"),
    *row("digamma", lambda x: np.array([-np.inf, np.nan]), s(np.array([0.0, -3.0]))),
    *row("polygamma", each(_polygamma), s(pos(2, 3), n=1), s(pos(), n=2), s(pos(0, 3), n=1),
         s(np.array([-0.5, -2.3, 40.0]), n=3), grads="x"),
    *row("polygamma", lambda x, n: np.zeros(2), s(np.full(2, np.inf), n=1), s(np.full(2, np.inf), n=2)),
    *row("i0", _bessel(0), *U, s(np.array([9.0, -12.0])), grads="x"),
    *row("i0e", _bessel(0, scaled=True), *U, s(np.array([9.0, -12.0])), grads="x"),
    *row("i1", _bessel(1), *U, s(np.array([9.0, -12.0])), grads="x"),
    *row("i1e", _bessel(1, scaled=True), *U, s(np.array([9.0, -12.0])), grads="x"),
    *row("i1", lambda x: np.array([0.0, np.inf, -np.inf]), s(np.array([0.0, np.inf, -np.inf]))),
    *row("logit", _logit, *SHARE, s(share(2, 3), eps=0.3), grads="x"),
    *row("logit", lambda x: np.array([-np.inf, np.inf, np.nan]), s(np.array([0.0, 1.0, 1.5])))
]
