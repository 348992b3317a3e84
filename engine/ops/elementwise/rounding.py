"""Rounding, and division with its remainder."""

from __future__ import annotations

from engine.core.operators import traits
from engine.core.operators.infer import broadcast, same_as_x
from engine.core.operators.opdef import op
from engine.ops.elementwise import arithmetic


@traits.broadcasts
@op("elementwise_mod", infer=broadcast("remainder"))
def remainder(xp, x, y, *, axis=-1, out=None):
    """x modulo y, with the sign of y."""
    return xp.remainder(x, y, out=out)


remainder.grad(
    x=lambda g: g,
    y=lambda g, x, y: arithmetic.scale(arithmetic.multiply(g, floor(arithmetic.divide(x, y))), scale=-1.0),
)


@traits.broadcasts
@op("elementwise_floordiv", infer=broadcast("floor_divide"))
def floor_divide(xp, x, y, *, axis=-1, out=None):
    """x // y."""
    return xp.floor_divide(x, y, out=out)


@op("floor", infer=same_as_x)
def floor(xp, x, *, out=None):
    """The largest integer not above x."""
    return xp.floor(x, out=out)


floor.grad(x=lambda g: arithmetic.scale(g, scale=0.0))


@op("ceil", infer=same_as_x)
def ceil(xp, x, *, out=None):
    """The smallest integer not below x."""
    return xp.ceil(x, out=out)


ceil.grad(x=lambda g: arithmetic.scale(g, scale=0.0))


@op("round", infer=same_as_x)
def round_(xp, x, *, out=None):
    """The nearest integer, halves away from zero as in Paddle."""
    return xp.copysign(xp.floor(xp.absolute(x) + x.dtype.type(0.5)), x).astype(x.dtype, copy=False)


round_.grad(x=lambda g: arithmetic.scale(g, scale=0.0))


@op("trunc", infer=same_as_x)
def trunc(xp, x, *, out=None):
    """x without its fraction."""
    return xp.trunc(x, out=out)


trunc.grad(x=lambda g: arithmetic.scale(g, scale=0.0))
