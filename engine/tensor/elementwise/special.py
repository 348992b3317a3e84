"""Special functions."""

from __future__ import annotations

import math as numbers
from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.ops.elementwise import arithmetic as arithmetic_ops
from engine.ops.elementwise import special as ops
from engine.program.build.calls import named
from engine.tensor.arguments.factories import floating, unary
from engine.tensor.tensor_like import AnyTensor

_MOST_DERIVATIVES = 170  # of polygamma: float64 holds no larger factorial
_MOST_DIMENSIONS = 10**6  # of multigammaln, which adds as many terms

erf = unary("erf", ops.erf)
erfinv = unary("erfinv", ops.erfinv)
lgamma = unary("lgamma", ops.lgamma)
digamma = unary("digamma", ops.digamma)
i0 = unary("i0", ops.i0)
i0e = unary("i0e", ops.i0e)
i1 = unary("i1", ops.i1)
i1e = unary("i1e", ops.i1e)


def polygamma(x: AnyTensor, n: int, name: str | None = None) -> Any:
    """The derivative of order n of digamma; digamma itself for n = 0. Raises ArgumentError for n below 0 or
    above 170."""
    if name:
        return named(name, polygamma, x, n)
    if not isinstance(n, int) or isinstance(n, bool):
        raise DTypeError(f"polygamma: n must be an integer: got {n!r}")
    if not 0 <= n <= _MOST_DERIVATIVES:
        raise ArgumentError(f"polygamma: n must be at least 0 and at most {_MOST_DERIVATIVES}: got {n}")
    return digamma(x) if n == 0 else ops.polygamma(floating("polygamma", x), n=n)


def multigammaln(x: AnyTensor, p: float, name: str | None = None) -> Any:
    """log of the multivariate gamma function of dimension p, a whole number, for x > (p - 1) / 2."""
    if name:
        return named(name, multigammaln, x, p)
    if p % 1 or not 1 <= p <= _MOST_DIMENSIONS:
        raise ArgumentError(
            f"multigammaln: p must be an integer, at least 1 and at most {_MOST_DIMENSIONS}: got {p}"
        )
    size = int(p)
    x = floating("multigammaln", x)
    total = ops.lgamma(x)
    for k in range(1, size):
        total = arithmetic_ops.add(total, ops.lgamma(arithmetic_ops.scale(x, bias=-0.5 * k)))
    return arithmetic_ops.scale(total, bias=size * (size - 1) / 4.0 * numbers.log(numbers.pi))


def logit(x: AnyTensor, eps: float | None = None, name: str | None = None) -> Any:
    """log(x / (1 - x)), elementwise, of x limited to [eps, 1 - eps]; without eps NaN outside [0, 1]."""
    if name:
        return named(name, logit, x, eps)
    return ops.logit(floating("logit", x), eps=0.0 if eps is None else float(eps))
