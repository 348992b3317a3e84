"""Comparison and logic; results are bool, without gradients."""

from __future__ import annotations

from typing import Any

from engine.core.operators.infer import (
    as_bool,
    broadcast_shapes,
    compare,
)
from engine.core.operators.opdef import op
from engine.core.values.dtype import bool_
from engine.core.values.spec import Spec


@op("equal", infer=compare("equal"))
def equal(xp, x, y, *, axis=-1, out=None):
    """x == y."""
    return xp.equal(x, y, out=out)


@op("not_equal", infer=compare("not_equal"))
def not_equal(xp, x, y, *, axis=-1, out=None):
    """x != y."""
    return xp.not_equal(x, y, out=out)


@op("less_than", infer=compare("less_than"))
def less_than(xp, x, y, *, axis=-1, out=None):
    """x < y."""
    return xp.less(x, y, out=out)


@op("less_equal", infer=compare("less_equal"))
def less_equal(xp, x, y, *, axis=-1, out=None):
    """x <= y."""
    return xp.less_equal(x, y, out=out)


@op("greater_than", infer=compare("greater_than"))
def greater_than(xp, x, y, *, axis=-1, out=None):
    """x > y."""
    return xp.greater(x, y, out=out)


@op("greater_equal", infer=compare("greater_equal"))
def greater_equal(xp, x, y, *, axis=-1, out=None):
    """x >= y."""
    return xp.greater_equal(x, y, out=out)


@op("logical_and", infer=compare("logical_and"))
def logical_and(xp, x, y, *, out=None):
    """True where both x and y are true."""
    return xp.logical_and(x, y, out=out)


@op("logical_or", infer=compare("logical_or"))
def logical_or(xp, x, y, *, out=None):
    """True where x or y is true."""
    return xp.logical_or(x, y, out=out)


@op("logical_xor", infer=compare("logical_xor"))
def logical_xor(xp, x, y, *, out=None):
    """True where exactly one of x and y is true."""
    return xp.logical_xor(x, y, out=out)


@op("logical_not", infer=as_bool)
def logical_not(xp, x, *, out=None):
    """True where x is false."""
    return xp.logical_not(x, out=out)


def infer_broadcast_bool(x: Spec, y: Spec, **_: Any) -> Spec:
    return Spec(broadcast_shapes("fmax", x.shape, y.shape), bool_)


@op("isclose", infer=lambda x, y, **_: infer_broadcast_bool(x, y))
def isclose(xp, x, y, *, rtol=1e-05, atol=1e-08, equal_nan=False):
    """True where |x - y| <= atol + rtol * |y|."""
    return xp.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)


@op("allclose", infer=lambda x, y, **_: infer_broadcast_bool(x, y).with_shape(()))
def allclose(xp, x, y, *, rtol=1e-05, atol=1e-08, equal_nan=False):
    """True if |x - y| <= atol + rtol * |y| everywhere."""
    return xp.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan).all()


@op("is_empty", infer=lambda x: Spec((), bool_))
def is_empty(xp, x):
    """True if x has no elements."""
    return xp.asarray(x.size == 0)
