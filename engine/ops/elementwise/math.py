"""Elementwise arithmetic and mathematical functions.

Gradients of complex values are dL/d(real) + i dL/d(imag), as in torch and Paddle: a rule multiplies by the
conjugate of the derivative.
"""

from __future__ import annotations

from typing import Any

from engine.core.dtype import as_dtype
from engine.core.infer import (
    as_bool,
    broadcast,
    floating_as_x,
    floating_broadcast,
    part_dtype,
    part_of_x,
    require_same_dtype,
    same_as_x,
)
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.elementwise.choices import chosen


@op("conj", infer=same_as_x, complex=True)
def conj(xp, x, *, out=None):
    """The complex conjugate; the value of a real x."""
    return xp.conjugate(x, out=out)


conj.grad(x=lambda g: conj(g))


def conjugate(x: Any) -> Any:
    """The conjugate of a complex tensor; a real one itself."""
    return conj(x) if x.dtype.is_complex else x


@op("elementwise_add", infer=broadcast("add"), broadcasts=True, complex=True)
def add(xp, x, y, *, axis=-1, out=None):
    """x + y."""
    return xp.add(x, y, out=out)


add.grad(x=lambda g: g, y=lambda g: g)


@op("elementwise_sub", infer=broadcast("subtract"), broadcasts=True, complex=True)
def subtract(xp, x, y, *, axis=-1, out=None):
    """x - y."""
    return xp.subtract(x, y, out=out)


subtract.grad(x=lambda g: g, y=lambda g: scale(g, scale=-1.0))


@op("elementwise_mul", infer=broadcast("multiply"), broadcasts=True, complex=True)
def multiply(xp, x, y, *, axis=-1, out=None):
    """x * y."""
    return xp.multiply(x, y, out=out)


multiply.grad(x=lambda g, y: multiply(g, conjugate(y)), y=lambda g, x: multiply(g, conjugate(x)))


@op("elementwise_div", infer=floating_broadcast("divide"), broadcasts=True, complex=True)
def divide(xp, x, y, *, axis=-1, out=None):
    """x / y; the public function casts integers, so that they divide like floats."""
    return xp.divide(x, y, out=out)


divide.grad(
    x=lambda g, y: divide(g, conjugate(y)),
    y=lambda g, y, out: scale(divide(multiply(g, conjugate(out)), conjugate(y)), scale=-1.0),
)


@op("elementwise_pow", infer=broadcast("pow"), broadcasts=True)
def power(xp, x, y, *, axis=-1, out=None):
    """x to the power y."""
    return xp.power(x, y, out=out)


power.grad(
    x=lambda g, x, y: g * y * power(x, y - 1.0),
    # Where x is 0 the logarithm is not finite, but the power is 0 for any y > 0: its derivative is 0 there.
    y=lambda g, x, out: g * _times_log(out, x),
)


@op("elementwise_mod", infer=broadcast("remainder"), broadcasts=True)
def remainder(xp, x, y, *, axis=-1, out=None):
    """x modulo y, with the sign of y."""
    return xp.remainder(x, y, out=out)


remainder.grad(x=lambda g: g, y=lambda g, x, y: scale(multiply(g, floor(divide(x, y))), scale=-1.0))


@op("elementwise_floordiv", infer=broadcast("floor_divide"), broadcasts=True)
def floor_divide(xp, x, y, *, axis=-1, out=None):
    """x // y."""
    return xp.floor_divide(x, y, out=out)


@op("elementwise_max", infer=broadcast("maximum"), broadcasts=True)
def maximum(xp, x, y, *, axis=-1, out=None):
    """The larger of x and y; NaN where either is."""
    return xp.maximum(x, y, out=out)


# Paddle gives the whole gradient of a tie to y.
maximum.grad(x=lambda g, x, y: kept(g, x > y), y=lambda g, x, y: kept(g, x <= y))


@op("gradient_where", infer=lambda g_in, mask: g_in)
def kept(xp, g_in, mask, *, out=None):
    """g where the mask is True, else 0, also where g is infinite."""
    return chosen(xp, g_in, mask, out)


kept.grad(g_in=lambda g, mask: kept(g, mask))


@op("elementwise_min", infer=broadcast("minimum"), broadcasts=True)
def minimum(xp, x, y, *, axis=-1, out=None):
    """The smaller of x and y; NaN where either is."""
    return xp.minimum(x, y, out=out)


minimum.grad(x=lambda g, x, y: kept(g, x < y), y=lambda g, x, y: kept(g, x >= y))


@op("scale", infer=same_as_x, complex=True)
def scale(xp, x, *, scale=1.0, bias=0.0, bias_after_scale=True, out=None):
    """x * scale + bias, in the dtype of x."""
    # A Python float takes the dtype of a floating x; made a NumPy number first, it would cost as much again.
    number = float if x.dtype.kind == "f" else x.dtype.type
    factor = number(scale)
    if factor == -1 and (bias_after_scale or bias == 0):
        return xp.subtract(number(bias), x, out=out)  # of 0 it is 0, which prints without a sign
    if bias == 0:
        return xp.multiply(x, factor, out=out)
    shift = number(bias)
    if not bias_after_scale:
        return xp.multiply(xp.add(x, shift, out=out), factor, out=out)
    if factor == 1:
        return xp.add(x, shift, out=out)
    return xp.add(xp.multiply(x, factor, out=out), shift, out=out)


_scale = scale
scale.grad(x=lambda g, scale: _scale(g, scale=scale))


def _infer_cast(x: Spec, *, out_dtype: Any, **_: Any) -> Spec:
    return x.with_dtype(as_dtype(out_dtype))


@op("cast", infer=_infer_cast, complex=True)
def cast(xp, x, *, out_dtype):
    """x in another dtype, always a new array; a real one keeps the real parts of complex numbers."""
    dtype = as_dtype(out_dtype).np
    if x.dtype.kind == "c" and dtype.kind in "fiu":
        x = x.real
    return x.astype(dtype)


cast.grad(x=lambda g, x_like: cast(g, out_dtype=x_like.dtype))


@op("exp", infer=floating_as_x("exp"), complex=True)
def exp(xp, x, *, out=None):
    """e to the power x."""
    return xp.exp(x, out=out)


exp.grad(x=lambda g, out: g * conjugate(out))


@op("log", infer=floating_as_x("log"), complex=True)
def log(xp, x, *, out=None):
    """Natural logarithm."""
    return xp.log(x, out=out)


log.grad(x=lambda g, x: g / conjugate(x))


@op("sqrt", infer=floating_as_x("sqrt"), complex=True)
def sqrt(xp, x, *, out=None):
    """Square root."""
    return xp.sqrt(x, out=out)


sqrt.grad(x=lambda g, out: scale(g / conjugate(out), scale=0.5))


@op("rsqrt", infer=floating_as_x("rsqrt"))
def rsqrt(xp, x, *, out=None):
    """1 / sqrt(x)."""
    return xp.divide(x.dtype.type(1), xp.sqrt(x, out=out), out=out)


rsqrt.grad(x=lambda g, out: scale(g * out * out * out, scale=-0.5))


@op("square", infer=same_as_x, complex=True)
def square(xp, x, *, out=None):
    """x * x."""
    return xp.square(x, out=out)


square.grad(x=lambda g, x: scale(g * conjugate(x), scale=2.0))


@op("reciprocal", infer=floating_as_x("reciprocal"), complex=True)
def reciprocal(xp, x, *, out=None):
    """1 / x."""
    return xp.divide(x.dtype.type(1), x, out=out)


reciprocal.grad(x=lambda g, out: scale(g * square(conjugate(out)), scale=-1.0))


@op("abs", infer=part_of_x, complex=True)
def absolute(xp, x, *, out=None):
    """Absolute value; real for a complex x."""
    return xp.absolute(x, out=out)


absolute.grad(x=lambda g, x: g * sign(x))


@op("sign", infer=same_as_x, complex=True)
def sign(xp, x, *, out=None):
    """-1, 0 or 1; x / |x| for a complex x, 0 where it is 0."""
    return xp.sign(x, out=out)


def _sign_grad(g: Any, x: Any, out: Any) -> Any:
    """Of a complex direction the part at right angles to it, over the distance."""
    if not x.dtype.is_complex:
        return scale(g, scale=0.0)
    across = g / absolute(x)
    along = cast(across * conj(out), out_dtype=part_dtype(x.dtype))
    return across - along * out


sign.grad(x=_sign_grad)


@op("sin", infer=floating_as_x("sin"), complex=True)
def sin(xp, x, *, out=None):
    """Sine."""
    return xp.sin(x, out=out)


sin.grad(x=lambda g, x: g * cos(conjugate(x)))


@op("cos", infer=floating_as_x("cos"), complex=True)
def cos(xp, x, *, out=None):
    """Cosine."""
    return xp.cos(x, out=out)


cos.grad(x=lambda g, x: scale(g * sin(conjugate(x)), scale=-1.0))


@op("floor", infer=same_as_x)
def floor(xp, x, *, out=None):
    """The largest whole number not above x."""
    return xp.floor(x, out=out)


floor.grad(x=lambda g: scale(g, scale=0.0))


@op("ceil", infer=same_as_x)
def ceil(xp, x, *, out=None):
    """The smallest whole number not below x."""
    return xp.ceil(x, out=out)


ceil.grad(x=lambda g: scale(g, scale=0.0))


@op("round", infer=same_as_x)
def round_(xp, x, *, out=None):
    """The nearest whole number, halves away from zero as in Paddle."""
    return xp.copysign(xp.floor(xp.absolute(x) + x.dtype.type(0.5)), x).astype(x.dtype, copy=False)


round_.grad(x=lambda g: scale(g, scale=0.0))


@op("clip", infer=same_as_x)
def clip(xp, x, *, min=None, max=None, out=None):
    """x limited to [min, max]."""
    low = None if min is None else x.dtype.type(min)
    high = None if max is None else x.dtype.type(max)
    return xp.clip(x, low, high, out=out)


clip.grad(x=lambda g, x, min, max: kept(g, _inside(x, min=min, max=max)))


@op("clip_mask", infer=as_bool)
def _inside(xp, x, *, min=None, max=None):
    """True where clip passes x through; not at the limits themselves, as in Paddle."""
    inside = xp.ones(x.shape, bool)
    if min is not None:
        inside &= x > x.dtype.type(min)
    if max is not None:
        inside &= x < x.dtype.type(max)
    return inside


@op("xlogy", infer=floating_broadcast("xlogy"), broadcasts=True)
def _times_log(xp, x, y):
    """x * log(y), 0 where x is 0."""
    return xp.where(x == 0, x.dtype.type(0), x * xp.log(xp.where(x == 0, y.dtype.type(1), y)))


_times_log.grad(x=lambda g, x, y: g * _log_where(x, y), y=lambda g, x, y: g * x / y)


@op("log_where_nonzero", infer=floating_broadcast("xlogy"), broadcasts=True)
def _log_where(xp, x, y):
    """log(y) where x is not 0, else 0."""
    return xp.where(x == 0, x.dtype.type(0), xp.log(xp.where(x == 0, y.dtype.type(1), y)))


_log_where.grad(y=lambda g, x, y: g * cast(x != 0.0, out_dtype=g.dtype) / y)


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


def _infer_add_n(xs: list[Spec], **_: Any) -> Spec:
    require_same_dtype("add_n", **{f"inputs[{n}]": s for n, s in enumerate(xs)})
    result = xs[0]
    for spec in xs[1:]:
        result = broadcast("add_n")(result, spec)
    return result


@op("sum", infer=_infer_add_n, slots={"xs": "X"}, complex=True)
def add_n(xp, xs: list):
    """The sum of several tensors of one shape."""
    total = xs[0].copy()
    for x in xs[1:]:
        if x.dtype != total.dtype:
            raise ValueError("dtypes differ")  # the mode asks inference for the words
        total += x
    return total


add_n.grad(xs=lambda g, xs_spec: [g for _ in xs_spec])
