"""Special functions: error function, gamma function and its derivatives, Bessel functions, logit."""

from __future__ import annotations

import math as numbers
from typing import Any

from engine.core.errors import ArgumentError
from engine.core.operators.bounds import Turns
from engine.core.operators.infer import floating_as_x
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.kernels.special import bessel, gamma_function, inverse_error
from engine.ops.arrays import creation, index
from engine.ops.elementwise import arithmetic, error_function, exponential


@op("erf", infer=floating_as_x("erf"))
def erf(xp, x):
    """The error function: 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    return error_function.erf(xp, x)


_TWO_OVER_SQRT_PI = 2.0 / numbers.sqrt(numbers.pi)
erf.grad(
    x=lambda g, x: arithmetic.scale(
        g * exponential.exp(arithmetic.scale(x * x, scale=-1.0)), scale=_TWO_OVER_SQRT_PI
    )
)


@op("erfinv", infer=floating_as_x("erfinv"))
def erfinv(xp, x):
    """The y with erf(y) = x; infinite at -1 and 1, NaN outside."""
    return inverse_error.erfinv(xp, x)


erfinv.grad(x=lambda g, out: arithmetic.scale(g * exponential.exp(out * out), scale=1.0 / _TWO_OVER_SQRT_PI))


@op("lgamma", infer=floating_as_x("lgamma"))
def lgamma(xp, x):
    """log |gamma(x)|."""
    return gamma_function.lgamma(xp, x).astype(x.dtype, copy=False)


lgamma.grad(x=lambda g, x: g * digamma(x))


@op("digamma", infer=floating_as_x("digamma"))
def digamma(xp, x):
    """The derivative of lgamma."""
    return gamma_function.digamma(xp, x).astype(x.dtype, copy=False)


digamma.grad(x=lambda g, x: g * polygamma(x, n=1))


def _infer_polygamma(x: Spec, *, n: int) -> Spec:
    if n < 1:
        raise ArgumentError(f"polygamma: n is the order of a derivative of digamma, at least 1: got {n}")
    return floating_as_x("polygamma")(x)


@op("polygamma", infer=_infer_polygamma)
def polygamma(xp, x, *, n: Turns):
    """The derivative of order n of digamma."""
    return gamma_function.polygamma(xp, n, x).astype(x.dtype, copy=False)


polygamma.grad(x=lambda g, x, n: g * polygamma(x, n=n + 1))


@op("i0", infer=floating_as_x("i0"))
def i0(xp, x):
    """The modified Bessel function of the first kind of order 0."""
    return bessel.unscaled(xp, x, bessel.i0e(xp, x)).astype(x.dtype, copy=False)


i0.grad(x=lambda g, x: g * i1(x))


@op("i0e", infer=floating_as_x("i0e"))
def i0e(xp, x):
    """exp(-|x|) i0(x)."""
    return bessel.i0e(xp, x).astype(x.dtype, copy=False)


i0e.grad(x=lambda g, x, out: g * (i1e(x) - arithmetic.sign(x) * out))


@op("i1", infer=floating_as_x("i1"))
def i1(xp, x):
    """The modified Bessel function of the first kind of order 1."""
    return bessel.unscaled(xp, x, bessel.i1e(xp, x)).astype(x.dtype, copy=False)


def _over(value: Any, x: Any) -> Any:
    """value / x for an odd function with slope 1/2 at 0."""
    at_zero = x == 0.0
    safe = index.where(at_zero, creation.fill_like(x, value=1.0), x)
    return index.where(at_zero, creation.fill_like(x, value=0.5), value / safe)


i1.grad(x=lambda g, x, out: g * (i0(x) - _over(out, x)))


@op("i1e", infer=floating_as_x("i1e"))
def i1e(xp, x):
    """exp(-|x|) i1(x)."""
    return bessel.i1e(xp, x).astype(x.dtype, copy=False)


i1e.grad(x=lambda g, x, out: g * (i0e(x) - arithmetic.sign(x) * out - _over(out, x)))


@op("logit", infer=floating_as_x("logit"))
def logit(xp, x, *, eps=0.0):
    """log(x / (1 - x)), of x limited to [eps, 1 - eps] where eps is not 0; NaN outside [0, 1] else."""
    number = x.dtype.type
    if eps:
        x = xp.clip(x, number(eps), number(1.0 - eps))
    return xp.log(x) - xp.log1p(-x)


def _logit_grad(g: Any, x: Any, eps: float) -> Any:
    slope = g / (x * (1.0 - x))
    if not eps:
        return slope
    return index.where((x >= eps) & (x <= 1.0 - eps), slope, creation.fill_like(g, value=0.0))


logit.grad(x=_logit_grad)
