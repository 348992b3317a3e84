"""Elementwise functions of rounding, choosing, interpolating and repairing numbers."""

from __future__ import annotations

from typing import Any

from engine.core.dtype import bool_, int32
from engine.core.errors import DTypeError, OutOfRangeError, ShapeError
from engine.core.infer import (
    broadcast,
    broadcast_shapes,
    floating_as_x,
    floating_broadcast,
    require_floating,
    require_same_dtype,
    same_as_x,
)
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.arrays import index as choose
from engine.ops.arrays import shape
from engine.ops.elementwise import compare, math


def _zero(g: Any) -> Any:
    return math.scale(g, scale=0.0)


@op("trunc", infer=same_as_x)
def trunc(xp, x, *, out=None):
    """x without its fraction."""
    return xp.trunc(x, out=out)


trunc.grad(x=_zero)


@op("elementwise_fmax", infer=broadcast("fmax"), broadcasts=True)
def fmax(xp, x, y, *, axis=-1, out=None):
    """The larger of x and y; the other where one is NaN."""
    return xp.fmax(x, y, out=out)


# Paddle gives the whole gradient of a tie to x.
fmax.grad(
    x=lambda g, x, y: math.kept(g, _first_of_fmax(x, y)),
    y=lambda g, x, y: math.kept(g, compare.logical_not(_first_of_fmax(x, y))),
)


def _infer_first(x: Spec, y: Spec, **_: Any) -> Spec:
    return Spec(broadcast_shapes("fmax", x.shape, y.shape), bool_)


@op("fmax_takes_first", infer=_infer_first)
def _first_of_fmax(xp, x, y):
    """Where fmax gives x."""
    return (x >= y) | xp.isnan(y)


@op("elementwise_fmin", infer=broadcast("fmin"), broadcasts=True)
def fmin(xp, x, y, *, axis=-1, out=None):
    """The smaller of x and y; the other where one is NaN."""
    return xp.fmin(x, y, out=out)


fmin.grad(
    x=lambda g, x, y: math.kept(g, _first_of_fmin(x, y)),
    y=lambda g, x, y: math.kept(g, compare.logical_not(_first_of_fmin(x, y))),
)


@op("fmin_takes_first", infer=_infer_first)
def _first_of_fmin(xp, x, y):
    """Where fmin gives x."""
    return (x <= y) | xp.isnan(y)


@op("elementwise_heaviside", infer=broadcast("heaviside"), broadcasts=True)
def heaviside(xp, x, y, *, axis=-1):
    """0 where x is negative, y where it is 0, else 1."""
    return xp.where(xp.isnan(x), x, xp.where(x == 0, y, (x > 0).astype(x.dtype)))


heaviside.grad(x=_zero, y=lambda g, x: g * math.cast(x == 0.0, out_dtype=g.dtype))


@op("nextafter", infer=floating_broadcast("nextafter"))
def nextafter(xp, x, y, *, out=None):
    """The next floating number after x towards y; without gradient."""
    return xp.nextafter(x, y, out=out)


def _infer_lerp(x: Spec, y: Spec, weight: Spec) -> Spec:
    dtype = require_same_dtype("lerp", x=x, y=y, weight=weight)
    floating_as_x("lerp")(x)
    return Spec(broadcast_shapes("lerp", broadcast_shapes("lerp", x.shape, y.shape), weight.shape), dtype)


@op("lerp", infer=_infer_lerp, broadcasts=True)
def lerp(xp, x, y, weight):
    """x + weight * (y - x), exact at both ends."""
    if not x.dtype == y.dtype == weight.dtype:
        raise ValueError("dtypes differ")  # the mode asks inference for the words
    step = y - x
    return xp.where(weight < 0.5, x + weight * step, y - (1 - weight) * step)


lerp.grad(
    x=lambda g, weight: g * (1.0 - weight),
    y=lambda g, weight: g * weight,
    weight=lambda g, x, y: g * (y - x),
)


def _infer_frexp(x: Spec) -> tuple[Spec, Spec]:
    if not x.dtype.is_floating_point:
        raise DTypeError(f"frexp: x must be floating: got {x}; cast it to float32 first")
    return x, x.with_dtype(int32)


@op("frexp", infer=_infer_frexp, outputs=("mantissa", "exponent"))
def frexp(xp, x):
    """x = mantissa * 2 ** exponent with 0.5 <= |mantissa| < 1."""
    mantissa, exponent = xp.frexp(x)
    return mantissa, exponent.astype(xp.int32, copy=False)


frexp.grad(x=lambda g_mantissa, exponent: _ldexp(g_mantissa, math.scale(exponent, scale=-1.0)))


def _infer_ldexp(x: Spec, y: Spec) -> Spec:
    require_floating("ldexp", x=x)
    return Spec(broadcast_shapes("ldexp", x.shape, y.shape), x.dtype)


@op("ldexp", infer=_infer_ldexp, broadcasts=True)
def _ldexp(xp, x, y):
    """x * 2 ** y for a whole number y."""
    return xp.ldexp(x, y)


_ldexp.grad(x=lambda g, y: _ldexp(g, y))


@op("nan_to_num", infer=same_as_x)
def nan_to_num(xp, x, *, nan=0.0, posinf=None, neginf=None):
    """x with NaN and the infinities replaced (the infinities by the largest numbers of the dtype)."""
    return xp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


nan_to_num.grad(x=lambda g, x: math.kept(g, math.isfinite(x)))


@op("isclose", infer=lambda x, y, **_: _infer_first(x, y))
def isclose(xp, x, y, *, rtol=1e-05, atol=1e-08, equal_nan=False):
    """True where |x - y| <= atol + rtol * |y|."""
    return xp.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)


@op("allclose", infer=lambda x, y, **_: _infer_first(x, y).with_shape(()))
def allclose(xp, x, y, *, rtol=1e-05, atol=1e-08, equal_nan=False):
    """True if |x - y| <= atol + rtol * |y| everywhere."""
    return xp.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan).all()


@op("is_empty", infer=lambda x: Spec((), bool_))
def is_empty(xp, x):
    """True if x has no elements."""
    return xp.asarray(x.size == 0)


def _infer_multiplex(xs: list[Spec], index: Spec) -> Spec:
    require_same_dtype("multiplex", **{f"inputs[{n}]": spec for n, spec in enumerate(xs)})
    first = xs[0]
    if len(xs) < 2 or first.ndim < 2 or any(spec.shape != first.shape for spec in xs):
        raise ShapeError(
            f"multiplex: inputs must be two tensors or more of one shape with at least 2 dimensions: got {xs}"
        )
    if not index.dtype.is_integer or index.ndim != 2 or index.shape[1] not in (1, -1):
        raise ShapeError(f"multiplex: index must be an integer tensor of shape [rows, 1]: got {index}")
    if index.shape[0] != first.shape[0] and -1 not in (index.shape[0], first.shape[0]):
        raise ShapeError(
            f"multiplex: index has {index.shape[0]} rows, the inputs {first.shape[0]}; give one each"
        )
    return first


@op("multiplex", infer=_infer_multiplex, slots={"xs": "X", "index": "Ids"})
def multiplex(xp, xs: list, index):
    """Row n of the result is row n of xs[index[n]]."""
    if len(xs) < 2 or index.ndim != 2 or index.shape[1] != 1 or any(x.shape != xs[0].shape for x in xs):
        raise ValueError("wrong shapes")  # the mode asks inference for the words
    chosen = index[:, 0]
    if index.size and not 0 <= int(chosen.min()) <= int(chosen.max()) < len(xs):
        raise OutOfRangeError(
            f"multiplex: index holds {int(chosen.min())} to {int(chosen.max())} for {len(xs)} inputs; "
            f"use 0 to {len(xs) - 1}"
        )
    return xp.stack(xs)[chosen, xp.arange(xs[0].shape[0])]


def _multiplex_grad(g: Any, xs_spec: Any, index: Any) -> list[Any]:
    zero = shape.fill_like(g, value=0.0)
    column = shape.unsqueeze(index, axes=list(range(2, g.ndim))) if g.ndim > 2 else index
    return [
        choose.where(compare.equal(column, shape.fill_like(column, value=n)), g, zero)
        for n in range(len(xs_spec))
    ]


multiplex.grad(xs=_multiplex_grad)
