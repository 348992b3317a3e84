"""Quantiles of the normal distribution truncated at two standard deviations, as Paddle rounds them.

The inverse error function is that of M. J. Wichura, Algorithm AS 241: the percentage points of the normal
distribution (1988), for arguments up to 0.9545 (two of its three pieces). Its polynomials are computed in the
dtype of the numbers, and steps with a literal in float64, which shows in the last bit of float32 numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Coefficients from the highest power down.
_MIDDLE_NUMERATOR = (
    8.8709406962545514830200e2,
    1.1819493347062294404278e4,
    2.3782041382114385731252e4,
    1.6235862515167575384252e4,
    4.8548868893843886794648e3,
    6.9706266534389598238465e2,
    4.7072688112383978012285e1,
    1.1975323115670912564578e0,
)
_MIDDLE_DENOMINATOR = (
    5.2264952788528545610e3,
    2.8729085735721942674e4,
    3.9307895800092710610e4,
    2.1213794301586595867e4,
    5.3941960214247511077e3,
    6.8718700749205790830e2,
    4.2313330701600911252e1,
    1.0,
)
_OUTER_NUMERATOR = (
    7.74545014278341407640e-4,
    2.27238449892691845833e-2,
    2.41780725177450611770e-1,
    1.27045825245236838258e0,
    3.64784832476320460504e0,
    5.76949722146069140550e0,
    4.63033784615654529590e0,
    1.42343711074968357734e0,
)
_OUTER_DENOMINATOR = (
    1.4859850019840355905497876e-9,
    7.7441459065157709165577218e-4,
    2.1494160384252876777097297e-2,
    2.0945065210512749128288442e-1,
    9.7547832001787427186894837e-1,
    2.3707661626024532365971225e0,
    2.9036514445419946173133295e0,
    1.4142135623730950488016887e0,
)
_EDGE = 0.85  # of the middle piece
_BLOCK = 1 << 20


def truncated_normal(u: Array, mean: float | np.floating[Any], std: float | np.floating[Any]) -> Array:
    """The quantiles ``u`` (from 0 to 1) of the truncated normal distribution."""
    flat = u.reshape(-1)
    made = np.empty_like(flat)
    for low in range(0, len(flat), _BLOCK):  # which needs less memory than all at once
        made[low : low + _BLOCK] = _truncated(flat[low : low + _BLOCK], mean, std)
    return made.reshape(u.shape)


def _truncated(u: Array, mean: Any, std: Any) -> Array:
    kind = u.dtype.type
    lowest, highest = (kind((1.0 + math.erf(x / math.sqrt(2.0))) / 2.0) for x in (-2.0, 2.0))
    p = lowest + (highest - lowest) * u
    numbers = math.sqrt(2.0) * _inverse_erf(2 * p - 1).astype(np.float64)
    return (numbers * float(std) + float(mean)).astype(kind)


def _inverse_erf(x: Array) -> Array:
    kind = x.dtype.type
    magnitude = np.abs(x)
    r = (0.180625 - 0.25 * x.astype(np.float64) * x).astype(kind)
    middle = x * _polynomial(r, _MIDDLE_NUMERATOR) / _polynomial(r, _MIDDLE_DENOMINATOR)
    outside = magnitude > _EDGE
    tail = np.log(1.0 - magnitude[outside].astype(np.float64))
    r = np.sqrt(float(kind(math.log(2.0))) - tail).astype(kind)
    r = (r.astype(np.float64) - 1.6).astype(kind)
    outer = _polynomial(r, _OUTER_NUMERATOR) / _polynomial(r, _OUTER_DENOMINATOR)
    middle[outside] = np.copysign(outer, x[outside])
    return middle


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    first, *others = (x.dtype.type(c) for c in coefficients)
    value = np.full_like(x, first)
    for c in others:
        value *= x
        value += c
    return value
