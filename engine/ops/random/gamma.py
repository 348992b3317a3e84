"""Numbers of gamma distributions, drawn one after the other, in the arithmetic of a dtype.

G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables (2000); a shape below 1 is drawn
as that of one more, times u ** (1 / shape). Literals are float32, as in Paddle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from engine.core.random.draws import Draws
from engine.core.random.logf import logf

_THIRD, _SQUEEZE = np.float32(1) / np.float32(3), np.float32(0.0331)


def gamma_numbers(
    draws: Draws, shapes: Iterable[float], dtype: np.dtype[Any] | type[np.floating[Any]]
) -> tuple[list[Any], list[float]]:
    """A number for each of ``shapes``, of float32 or float64, and its logarithm: small ones round to 0."""
    kind = np.dtype(dtype).type
    uniform = draws.one_by_one(kind)
    drawn = [_drawn(kind(shape), kind, uniform) for shape in shapes]
    return [scale * factor for scale, factor, _ in drawn], [log for _, _, log in drawn]


def _drawn(shape: Any, kind: Any, uniform: Iterator[float]) -> tuple[Any, Any, float]:
    """The two factors of a number, and the logarithm of their product."""
    one = kind(1)
    scale, log_scale = one, 0.0
    if shape < 1:
        base, power = one - kind(next(uniform)), one / shape
        scale, log_scale = kind(base**power), math.log(base) * float(power)
        shape = shape + one
    d = shape - kind(_THIRD)
    c = one / np.sqrt(kind(9) * d)
    while True:
        x = _normal(kind, uniform)
        y = one + c * x
        while y <= 0:
            x = _normal(kind, uniform)
            y = one + c * x
        v = y * y * y
        u = one - kind(next(uniform))
        xx = x * x
        squeezed = u < one - kind(_SQUEEZE) * xx * xx
        if squeezed or _log(u) < kind(0.5) * xx + d * (one - v + _log(v)):
            return scale * d, v, log_scale + math.log(d * v)


def _normal(kind: Any, uniform: Iterator[float]) -> Any:
    """The first number of a pair of the polar method; the second is lost."""
    while True:
        x, y = (kind(2) * kind(next(uniform)) - kind(1) for _ in range(2))
        r2 = x * x + y * y
        if 0 < r2 <= 1:
            return y * np.sqrt(kind(-2) * _log(r2) / r2)


def _log(x: Any) -> Any:
    return logf(x) if x.dtype == np.float32 else np.float64(math.log(x))
