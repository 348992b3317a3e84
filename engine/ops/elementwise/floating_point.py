"""Floating-point numbers examined and taken apart: NaN, infinities, mantissa and exponent."""

from __future__ import annotations

from engine.core.errors import DTypeError
from engine.core.operators import traits
from engine.core.operators.bounds import Number
from engine.core.operators.infer import (
    as_bool,
    broadcast_shapes,
    floating_broadcast,
    require_floating,
    same_as_x,
)
from engine.core.operators.opdef import op
from engine.core.values.dtype import int32
from engine.core.values.spec import Spec
from engine.ops.elementwise import arithmetic, extremes


@op("isnan_v2", infer=as_bool)
def isnan(xp, x):
    """True where x is NaN."""
    return xp.isnan(x)


@op("isinf_v2", infer=as_bool)
def isinf(xp, x):
    """True where x is infinite."""
    return xp.isinf(x)


@op("isfinite_v2", infer=as_bool)
def isfinite(xp, x):
    """True where x is neither NaN nor infinite."""
    return xp.isfinite(x)


@op("nextafter", infer=floating_broadcast("nextafter"))
def nextafter(xp, x, y, *, out=None):
    """The next floating number after x towards y; without gradient."""
    return xp.nextafter(x, y, out=out)


def _infer_frexp(x: Spec) -> tuple[Spec, Spec]:
    if not x.dtype.is_floating_point:
        raise DTypeError(f"frexp: x must be floating: got {x}; cast it to float32 first")
    return x, x.with_dtype(int32)


@op("frexp", infer=_infer_frexp, outputs=("mantissa", "exponent"))
def frexp(xp, x):
    """x = mantissa * 2 ** exponent with 0.5 <= |mantissa| < 1."""
    mantissa, exponent = xp.frexp(x)
    return mantissa, exponent.astype(xp.int32, copy=False)


frexp.grad(x=lambda g_mantissa, exponent: _ldexp(g_mantissa, arithmetic.scale(exponent, scale=-1.0)))


def _infer_ldexp(x: Spec, y: Spec) -> Spec:
    require_floating("ldexp", x=x)
    return Spec(broadcast_shapes("ldexp", x.shape, y.shape), x.dtype)


@traits.broadcasts
@op("ldexp", infer=_infer_ldexp)
def _ldexp(xp, x, y):
    """x * 2 ** y for an integer y."""
    return xp.ldexp(x, y)


_ldexp.grad(x=lambda g, y: _ldexp(g, y))


@op("nan_to_num", infer=same_as_x)
def nan_to_num(xp, x, *, nan=0.0, posinf: Number = None, neginf: Number = None):
    """x with NaN and the infinities replaced (the infinities by the largest numbers of the dtype)."""
    return xp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


nan_to_num.grad(x=lambda g, x: extremes.gradient_where(g, isfinite(x)))
