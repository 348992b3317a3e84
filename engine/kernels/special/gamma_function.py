"""Logarithm of the gamma function and its derivatives.

Near 1 and 2 the Taylor series, further out Stirling's, in between the recurrence, reflection left of 1/2;
derivatives are the Hurwitz zeta function, by the summation formula of Euler and Maclaurin (M. Abramowitz
and I. A. Stegun, Handbook of Mathematical Functions, 6.1, 6.3, 6.4 and 23.2).
"""

from __future__ import annotations

import math
from typing import Any

from engine.kernels.special.polynomial import horner

# zeta(k) - 1 for k = 2, 3, ...
_ZETA = (
    0.6449340668482264,
    0.2020569031595943,
    0.08232323371113819,
    0.03692775514336993,
    0.01734306198444914,
    0.008349277381922827,
    0.00407735619794434,
    0.0020083928260822143,
    0.0009945751278180853,
    0.0004941886041194645,
    0.0002460865533080483,
    0.00012271334757848915,
    6.124813505870483e-05,
    3.058823630702049e-05,
    1.528225940865187e-05,
    7.637197637899763e-06,
    3.81729326499984e-06,
    1.908212716553939e-06,
    9.539620338727962e-07,
    4.769329867878064e-07,
    2.38450502727733e-07,
    1.1921992596531106e-07,
    5.960818905125948e-08,
    2.980350351465228e-08,
    1.4901554828365043e-08,
    7.45071178983543e-09,
    3.725334024788457e-09,
)
_EULER = 0.5772156649015329
# The Bernoulli numbers B2, B4, ...
_BERNOULLI = (
    0.16666666666666666,
    -0.03333333333333333,
    0.023809523809523808,
    -0.03333333333333333,
    0.07575757575757576,
    -0.2531135531135531,
    1.1666666666666667,
    -7.092156862745098,
    54.971177944862156,
    -529.1242424242424,
    6192.123188405797,
    -86580.25311355312,
)
# lgamma(2 + z) / z for |z| <= 1/2, in z.
_TAYLOR = (*((-1) ** k * z / k for k, z in reversed(list(enumerate(_ZETA, 2)))), 1.0 - _EULER)
_STIRLING = tuple(b / (2 * k * (2 * k - 1)) for k, b in reversed(list(enumerate(_BERNOULLI[:8], 1))))
_DIGAMMA = tuple(b / (2 * k) for k, b in reversed(list(enumerate(_BERNOULLI[:9], 1))))
_FAR = 10.0  # from here on the asymptotic series are good to the last digit


def lgamma(xp: Any, x: Any) -> Any:
    """log |gamma(x)|; infinite at 0, -1, -2, ..."""
    value = x.astype(xp.float64, copy=False)
    mirrored = value < 0.5
    positive = xp.where(mirrored, 1.0 - value, value)
    small = (value > 0.0) & mirrored  # there the recurrence is better than the reflection
    result = _lgamma_right(xp, xp.where(small, value + 1.0, positive))
    reflected = math.log(math.pi) - xp.log(xp.abs(_sin_pi(xp, value))) - result
    result = xp.where(mirrored, reflected, result)
    result = xp.where(small, _lgamma_right(xp, value + 1.0) - xp.log(value), result)
    # From -1e306 on the reflection is inf - inf: such large numbers are integers, so the result is infinite.
    pole = (value <= 0.0) & (xp.floor(value) == value)
    return xp.where(pole | xp.isinf(value), xp.inf, result)


def _lgamma_right(xp: Any, x: Any) -> Any:
    """lgamma for x >= 1/2."""
    factor = xp.ones_like(x)
    reduced = x
    for _ in range(int(_FAR) - 2):
        above = (reduced >= 2.5) & (x < _FAR)
        if not above.any():
            break
        reduced = xp.where(above, reduced - 1.0, reduced)
        factor = xp.where(above, factor * reduced, factor)
    # Between 1/2 and 3/2 the zero at 1 is taken out exactly: lgamma(x) = lgamma(x + 1) - log(x).
    low = reduced < 1.5
    z = xp.clip(xp.where(low, reduced - 1.0, reduced - 2.0), -0.5, 0.5)
    near = z * horner(z, _TAYLOR) - xp.where(low, xp.log1p(z), 0.0) + xp.log(factor)
    beyond = xp.maximum(x, _FAR)
    inverse = 1.0 / beyond
    series = inverse * horner(inverse * inverse, _STIRLING)
    far = (beyond - 0.5) * xp.log(beyond) - beyond + 0.5 * math.log(2.0 * math.pi) + series
    return xp.where(x < _FAR, near, far)


def _sin_pi(xp: Any, x: Any) -> Any:
    """sin(pi x), exact zeros at integers."""
    nearest = xp.rint(x)
    return xp.sin(math.pi * (x - nearest)) * xp.where(xp.remainder(nearest, 2.0) == 0.0, 1.0, -1.0)


def digamma(xp: Any, x: Any) -> Any:
    """The derivative of lgamma; NaN at -1, -2, ..., infinite of the opposite sign at 0."""
    value = x.astype(xp.float64, copy=False)
    mirrored = value <= 0.0
    positive = xp.where(mirrored, 1.0 - value, value)
    total = xp.zeros_like(value)
    for _ in range(int(_FAR)):
        below = positive < _FAR
        if not below.any():
            break
        total = xp.where(below, total - 1.0 / positive, total)
        positive = xp.where(below, positive + 1.0, positive)
    inverse = 1.0 / positive
    square = inverse * inverse
    result = total + xp.log(positive) - 0.5 * inverse - square * horner(square, _DIGAMMA)
    fraction = value - xp.rint(value)
    result = xp.where(mirrored, result - math.pi / xp.tan(math.pi * fraction), result)
    result = xp.where(mirrored & (fraction == 0.0), xp.nan, result)
    return xp.where(value == 0.0, xp.copysign(xp.inf, -value), result)


def polygamma(xp: Any, n: int, x: Any) -> Any:
    """The derivative of order n >= 1 of digamma; infinite at 0, NaN at -1, -2, ... for odd n as well."""
    value = x.astype(xp.float64, copy=False)
    sign = 1.0 if n % 2 else -1.0
    return sign * math.factorial(n) * hurwitz_zeta(xp, n + 1, value)


def hurwitz_zeta(xp: Any, s: int, q: Any) -> Any:
    """The sum of (q + k) ** -s over k = 0, 1, ... for an integer s > 1; infinite at 0, -1, -2, ..."""
    negative = q < 0.0
    whole = xp.floor(q)
    start = xp.where(negative, q - whole, q)  # of the terms that are positive
    total = _zeta_right(xp, s, start)
    if bool(negative.any()):
        # The terms left of 0 run, turned round, from 1 - start to -q.
        first = xp.where(negative, 1.0 - start, 1.0)
        last = xp.where(negative, 1.0 - q, 1.0)
        left = _zeta_right(xp, s, first) - _zeta_right(xp, s, last)
        total = total + (-left if s % 2 else left)
    return xp.where((q <= 0.0) & (whole == q), xp.inf, total)


def _zeta_right(xp: Any, s: int, q: Any) -> Any:
    total = xp.zeros_like(q)
    far = max(_FAR, 2.0 + s)
    for _ in range(int(far)):
        below = q < far
        if not below.any():
            break
        total = xp.where(below, total + q**-s, total)
        q = xp.where(below, q + 1.0, q)
    power = q**-s
    total = total + power * (q / (s - 1) + 0.5)
    term = power / q * s
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + bernoulli / math.factorial(2 * k) * term
        term = term * (s + 2 * k - 1) * (s + 2 * k) / (q * q)
    return xp.where(xp.isposinf(q), 0.0, total)  # there the formula is 0 * inf
