"""The larger and the smaller of two values, limits, and gradients that flow to the chosen one."""

from __future__ import annotations

from engine.core.operators import traits
from engine.core.operators.bounds import Number
from engine.core.operators.infer import as_bool, broadcast, same_as_x
from engine.core.operators.opdef import op
from engine.ops.elementwise import comparison
from engine.ops.elementwise.mask import chosen


@traits.broadcasts
@op("elementwise_max", infer=broadcast("maximum"))
def maximum(xp, x, y, *, axis=-1, out=None):
    """The larger of x and y; NaN where either is."""
    return xp.maximum(x, y, out=out)


# Paddle gives the whole gradient of a tie to y.
maximum.grad(x=lambda g, x, y: gradient_where(g, x > y), y=lambda g, x, y: gradient_where(g, x <= y))


@op("gradient_where", infer=lambda g_in, mask: g_in)
def gradient_where(xp, g_in, mask, *, out=None):
    """g where the mask is True, else 0, also where g is infinite."""
    return chosen(xp, g_in, mask, out)


gradient_where.grad(g_in=lambda g, mask: gradient_where(g, mask))


@traits.broadcasts
@op("elementwise_min", infer=broadcast("minimum"))
def minimum(xp, x, y, *, axis=-1, out=None):
    """The smaller of x and y; NaN where either is."""
    return xp.minimum(x, y, out=out)


minimum.grad(x=lambda g, x, y: gradient_where(g, x < y), y=lambda g, x, y: gradient_where(g, x >= y))


@op("clip", infer=same_as_x)
def clip(xp, x, *, min: Number = None, max: Number = None, out=None):
    """x limited to [min, max]."""
    low = None if min is None else x.dtype.type(min)
    high = None if max is None else x.dtype.type(max)
    return xp.clip(x, low, high, out=out)


clip.grad(x=lambda g, x, **attrs: gradient_where(g, _inside(x, **attrs)))


@op("clip_mask", infer=as_bool)
def _inside(xp, x, *, min: Number = None, max: Number = None):
    """True where clip passes x through; not at the limits themselves, as in Paddle."""
    inside = xp.ones(x.shape, bool)
    if min is not None:
        inside &= x > x.dtype.type(min)
    if max is not None:
        inside &= x < x.dtype.type(max)
    return inside


@traits.broadcasts
@op("elementwise_fmax", infer=broadcast("fmax"))
def fmax(xp, x, y, *, axis=-1, out=None):
    """The larger of x and y; the other where one is NaN."""
    return xp.fmax(x, y, out=out)


# Paddle gives the whole gradient of a tie to x.
fmax.grad(
    x=lambda g, x, y: gradient_where(g, _first_of_fmax(x, y)),
    y=lambda g, x, y: gradient_where(g, comparison.logical_not(_first_of_fmax(x, y))),
)


@op("fmax_takes_first", infer=comparison.infer_broadcast_bool)
def _first_of_fmax(xp, x, y):
    """A mask of the elements for which fmax gives x."""
    return (x >= y) | xp.isnan(y)


@traits.broadcasts
@op("elementwise_fmin", infer=broadcast("fmin"))
def fmin(xp, x, y, *, axis=-1, out=None):
    """The smaller of x and y; the other where one is NaN."""
    return xp.fmin(x, y, out=out)


fmin.grad(
    x=lambda g, x, y: gradient_where(g, _first_of_fmin(x, y)),
    y=lambda g, x, y: gradient_where(g, comparison.logical_not(_first_of_fmin(x, y))),
)


@op("fmin_takes_first", infer=comparison.infer_broadcast_bool)
def _first_of_fmin(xp, x, y):
    """A mask of the elements for which fmin gives x."""
    return (x <= y) | xp.isnan(y)
