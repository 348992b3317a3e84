"""Rows of the mathematical functions: trigonometry, exponentials, special ones, bits, rounding, choosing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, bools, ints, pos, row, s, unary_shapes, v


def _inner(*shape: int, seed: int = 0) -> Any:
    """Values between -0.9 and 0.9, none near 0."""
    return v(*shape, seed=seed) * 0.58


def _above_one(*shape: int, seed: int = 0) -> Any:
    return pos(*shape, seed=seed) + 1.1


def _share(*shape: int, seed: int = 0) -> Any:
    """Values between 0.1 and 0.9."""
    return 0.5 + 0.25 * v(*shape, seed=seed)


def _each(function: Any) -> Any:
    def want(x: Any, **attrs: Any) -> Any:
        return np.array([function(float(e), **attrs) for e in x.reshape(-1)], np.float64).reshape(x.shape)

    return want


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

    return _each(function)


def _erfinv(x: float) -> float:
    low, high = -6.0, 6.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < x else (low, middle)
    return low


def _logit(x: Any, eps: float = 0.0) -> Any:
    x = np.minimum(np.maximum(x, eps), 1 - eps) if eps else x
    return np.log(x / (1 - x))


def _gcd(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    return np.array([math.gcd(int(a), int(b)) for a, b in zip(x.flat, y.flat, strict=True)]).reshape(x.shape)


def _lcm(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    return np.array([math.lcm(int(a), int(b)) for a, b in zip(x.flat, y.flat, strict=True)]).reshape(x.shape)


def _signed(*shape: int, seed: int = 0) -> Any:
    return ints(*shape, low=-12, high=13, seed=seed)


def _frexp(x: Any) -> tuple[Any, Any]:
    pairs = [math.frexp(float(e)) for e in x.reshape(-1)]
    return (
        np.array([p[0] for p in pairs], np.float64).reshape(x.shape),
        np.array([p[1] for p in pairs], np.int32).reshape(x.shape),
    )


def _lerp(x: Any, y: Any, weight: Any) -> Any:
    return (1 - weight) * x + weight * y


U, P, IN = list(unary_shapes()), list(unary_shapes(pos)), list(unary_shapes(_inner))
SHARE = list(unary_shapes(_share))
NAN = np.array([np.nan, 1.0, np.nan]), np.array([2.0, np.nan, np.nan])
LERP = [s(v(2, 3), v(2, 3, seed=1), _share(2, 3)), s(v(3), v(2, 1, seed=1), _share()),
        s(v(), v(seed=1), _share()), s(v(0, 3), v(3, seed=1), _share(1)),
        s(v(2), v(2, seed=1), np.array([0.0, 1.0]))]  # fmt: skip

CASES: list[Case] = [
    # -- trigonometry
    *row("tan", lambda x: np.sin(x) / np.cos(x), *IN, grads="x"),
    *row("asin", _each(math.asin), *IN, grads="x"),
    *row("asin", lambda x: np.array([np.nan, math.pi / 2]), s(np.array([1.5, 1.0]))),
    *row("acos", _each(math.acos), *IN, grads="x"),
    *row("atan", _each(math.atan), *U, grads="x"),
    *row("sinh", lambda x: (np.exp(x) - np.exp(-x)) / 2, *U, grads="x"),
    *row("cosh", lambda x: (np.exp(x) + np.exp(-x)) / 2, *U, grads="x"),
    *row("asinh", _each(math.asinh), *U, grads="x"),
    *row("acosh", _each(math.acosh), *unary_shapes(_above_one), grads="x"),
    *row("atanh", _each(math.atanh), *IN, grads="x"),
    *row("atan2", lambda x, y: np.angle(y + 1j * x), *binary_shapes(), grads="x y"),
    *row("atan2", lambda x, y: np.array([math.pi, 0.0]), s(np.zeros(2), np.array([-1.0, 1.0]))),
    *row("hypot", lambda x, y: np.abs(x + 1j * y), *binary_shapes(), grads="x y"),
    *row("hypot", lambda x, y: np.array([5e30]), s(np.array([3e30]), np.array([4e30]))),
    # -- exponentials
    *row("expm1", _each(math.expm1), *U, s(np.array([1e-12])), grads="x"),
    *row("log1p", _each(math.log1p), *P, s(np.array([1e-12])), grads="x"),
    *row("log2", lambda x: np.log(x) / np.log(2), *P, grads="x"),
    *row("log10", lambda x: np.log(x) / np.log(10), *P, grads="x"),
    *row("logaddexp", lambda x, y: np.log(np.exp(x) + np.exp(y)), *binary_shapes(), grads="x y"),
    *row("logaddexp", lambda x, y: np.array([1e4 + math.log(2), -np.inf]),
         s(np.array([1e4, -np.inf]), np.array([1e4, -np.inf]))),
    *row("stanh", lambda x, scale_a=0.67, scale_b=1.7159: scale_b * np.tanh(scale_a * x), *U,
         s(v(2, 3), scale_a=0.3, scale_b=2.0), grads="x"),
    # -- special functions
    *row("erf", _each(math.erf), *U, grads="x"),
    *row("erfinv", _each(_erfinv), *IN, grads="x"),
    *row("erfinv", lambda x: np.array([np.inf, -np.inf, np.nan]), s(np.array([1.0, -1.0, 1.5]))),
    *row("lgamma", _each(math.lgamma), *P, s(np.array([-0.5, -2.3, 40.0, 1.0, 2.0])), grads="x"),
    *row("lgamma", lambda x: np.full(2, np.inf), s(np.array([0.0, -3.0]))),
    *row("digamma", _each(_digamma), *P, s(np.array([-0.5, -2.3, 40.0])), grads="x"),
    *row("digamma", lambda x: np.array([-np.inf, np.nan]), s(np.array([0.0, -3.0]))),
    *row("polygamma", _each(_polygamma), s(pos(2, 3), n=1), s(pos(), n=2), s(pos(0, 3), n=1),
         s(np.array([-0.5, -2.3, 40.0]), n=3), grads="x"),
    *row("i0", _bessel(0), *U, s(np.array([9.0, -12.0])), grads="x"),
    *row("i0e", _bessel(0, scaled=True), *U, s(np.array([9.0, -12.0])), grads="x"),
    *row("i1", _bessel(1), *U, s(np.array([9.0, -12.0])), grads="x"),
    *row("i1e", _bessel(1, scaled=True), *U, s(np.array([9.0, -12.0])), grads="x"),
    *row("i1", lambda x: np.array([0.0, np.inf, -np.inf]), s(np.array([0.0, np.inf, -np.inf]))),
    *row("logit", _logit, *SHARE, s(_share(2, 3), eps=0.3), grads="x"),
    *row("logit", lambda x: np.array([-np.inf, np.inf, np.nan]), s(np.array([0.0, 1.0, 1.5]))),
    # -- bits and divisors
    *row("bitwise_and", lambda x, y: x & y, *binary_shapes(_signed), s(bools(3), bools(3, seed=2))),
    *row("bitwise_or", lambda x, y: x | y, *binary_shapes(_signed), s(bools(3), bools(3, seed=2))),
    *row("bitwise_xor", lambda x, y: x ^ y, *binary_shapes(_signed), s(bools(3), bools(3, seed=2))),
    *row("bitwise_not", lambda x: -x - 1, *unary_shapes(_signed)),
    *row("bitwise_not", lambda x: x == 0, s(bools(4))),
    *row("gcd", _gcd, *binary_shapes(_signed)),
    *row("lcm", _lcm, *binary_shapes(_signed)),
    # -- rounding, choosing, repairing
    *row("trunc", lambda x: np.where(x < 0, np.ceil(x), np.floor(x)), *U, grads="x"),
    *row("elementwise_fmax", lambda x, y: np.where(x > y, x, y), *binary_shapes(), grads="x y"),
    *row("elementwise_fmax", lambda x, y: np.array([2.0, 1.0, np.nan]), s(*NAN)),
    *row("elementwise_fmin", lambda x, y: np.where(x < y, x, y), *binary_shapes(), grads="x y"),
    *row("elementwise_fmin", lambda x, y: np.array([2.0, 1.0, np.nan]), s(*NAN)),
    *row("fmax_takes_first", lambda x, y: x > y, *binary_shapes()),
    *row("fmax_takes_first", lambda x, y: np.array([False, True, True]), s(*NAN)),
    *row("fmin_takes_first", lambda x, y: x < y, *binary_shapes()),
    *row("fmin_takes_first", lambda x, y: np.array([False, True, True]), s(*NAN)),
    *row("elementwise_heaviside", lambda x, y: (x > 0) + 0.0 * y, *binary_shapes(), grads="x y"),
    *row("elementwise_heaviside", lambda x, y: np.array([0.0, 0.7, 1.0]),
         s(np.array([-2.0, 0.0, 2.0]), np.array([0.7])), grads="y"),
    *row("nextafter", lambda x, y: x + np.where(y > x, 1, -1) * 0.0, *binary_shapes()),
    *row("lerp", _lerp, *LERP, grads="x y weight"),
    *row("frexp", _frexp, *U, grads="x", through=(0,)),
    *row("frexp", _frexp, s(np.array([8.0, -0.1, 0.0, 1e30]))),
    *row("ldexp", lambda x, y: x * 2.0**y, s(v(2, 3), ints(2, 3)), s(v(3), ints(2, 1)), s(v(), ints()),
         grads="x"),
    *row("nan_to_num", lambda x, **_: x, *U, grads="x"),
    *row("nan_to_num", lambda x, nan, posinf, neginf: np.array([nan, posinf, neginf, 1.5]),
         s(np.array([np.nan, np.inf, -np.inf, 1.5]), nan=2.0, posinf=3.0, neginf=4.0)),
    *row("isclose", lambda x, y, rtol=1e-5, atol=1e-8, **_: abs(x - y) <= atol + rtol * abs(y),
         s(v(2, 3), v(2, 3) + 1e-9), s(v(3), v(2, 3)), s(v(2, 3), v(3), rtol=0.5), s(v(), v(), atol=0.1)),
    *row("isclose", lambda x, y, equal_nan=False: np.array([equal_nan, True]),
         s(np.array([np.nan, np.inf]), np.array([np.nan, np.inf])),
         s(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), equal_nan=True)),
    *row("allclose", lambda x, y, **_: np.array(bool((abs(x - y) <= 1e-8 + 1e-5 * abs(y)).all())),
         s(v(2, 3), v(2, 3) + 1e-9), s(v(2, 3), v(2, 3) + 1.0), s(v(0, 3), v(0, 3))),
    *row("multiplex", lambda xs, index: np.stack([xs[int(k)][n] for n, k in enumerate(index[:, 0])]),
         s([v(3, 2), v(3, 2, seed=1)], np.array([[0], [1], [0]])),
         s([v(2, 2, 2, seed=n) for n in range(3)], np.array([[2], [0]])), grads="xs"),
    *row("is_empty", lambda x: np.array(0 in x.shape), *U),
]  # fmt: skip
