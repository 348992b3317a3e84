"""Powers and roots."""

from __future__ import annotations

from typing import Any

from engine.core.operators import traits
from engine.core.operators.infer import broadcast, floating_as_x, floating_broadcast, same_as_x
from engine.core.operators.opdef import op
from engine.ops.elementwise import arithmetic


@traits.broadcasts
@op("elementwise_pow", infer=broadcast("pow"))
def power(xp, x, y, *, axis=-1, out=None):
    """x to the power y."""
    return xp.power(x, y, out=out)


power.grad(
    x=lambda g, x, y: g * y * power(x, y - 1.0),
    # Where x is 0 the logarithm is not finite, but the power is 0 for any y > 0: its derivative is 0 there.
    y=lambda g, x, out: g * _times_log(out, x),
)


@traits.complex_gradient
@op("sqrt", infer=floating_as_x("sqrt"))
def sqrt(xp, x, *, out=None):
    """Square root."""
    return xp.sqrt(x, out=out)


sqrt.grad(x=lambda g, out: arithmetic.scale(g / arithmetic.conjugate(out), scale=0.5))


@traits.holomorphic
@op("rsqrt", infer=floating_as_x("rsqrt"))
def rsqrt(xp, x, *, out=None):
    """1 / sqrt(x)."""
    return xp.divide(x.dtype.type(1), xp.sqrt(x, out=out), out=out)


rsqrt.grad(x=lambda g, out: arithmetic.scale(g * out * out * out, scale=-0.5))


@traits.complex_gradient
@op("square", infer=same_as_x)
def square(xp, x, *, out=None):
    """x * x."""
    return xp.square(x, out=out)


square.grad(x=lambda g, x: arithmetic.scale(g * arithmetic.conjugate(x), scale=2.0))


@traits.complex_gradient
@op("reciprocal", infer=floating_as_x("reciprocal"))
def reciprocal(xp, x, *, out=None):
    """1 / x."""
    return xp.divide(x.dtype.type(1), x, out=out)


reciprocal.grad(x=lambda g, out: arithmetic.scale(g * square(arithmetic.conjugate(out)), scale=-1.0))


@traits.broadcasts
@op("xlogy", infer=floating_broadcast("xlogy"))
def _times_log(xp, x, y):
    """x * log(y), 0 where x is 0."""
    return xp.where(x == 0, x.dtype.type(0), x * xp.log(xp.where(x == 0, y.dtype.type(1), y)))


_times_log.grad(x=lambda g, x, y: g * _log_where(x, y), y=lambda g, x, y: g * x / y)


@traits.broadcasts
@op("log_where_nonzero", infer=floating_broadcast("xlogy"))
def _log_where(xp, x, y):
    """log(y) where x is not 0, else 0."""
    return xp.where(x == 0, x.dtype.type(0), xp.log(xp.where(x == 0, y.dtype.type(1), y)))


_log_where.grad(y=lambda g, x, y: g * arithmetic.cast(x != 0.0, out_dtype=g.dtype) / y)


@op("pow", infer=floating_as_x("pow"))
def power_by_number(xp, x, *, factor=1.0):
    """x to the power ``factor``."""
    if factor == 2.0:
        return xp.multiply(x, x)
    if factor == 0.5:
        return xp.sqrt(x)
    return xp.power(x, x.dtype.type(factor))


def _gradient(g: Any, x: Any, factor: float) -> Any:
    if factor == 0.0:
        return arithmetic.scale(g, scale=0.0)
    slope = x if factor == 2.0 else power_by_number(x, factor=factor - 1.0)
    return arithmetic.scale(arithmetic.multiply(g, slope), scale=factor)


power_by_number.grad(x=_gradient)
