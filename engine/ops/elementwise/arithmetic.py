"""Elementwise arithmetic: sums, products, scaling, casts, absolute value and sign.

Gradients of complex values are dL/d(real) + i dL/d(imag), as in torch and Paddle: a rule multiplies by the
conjugate of the derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.attached import Attached
from engine.core.operators import traits
from engine.core.operators.infer import (
    broadcast,
    broadcast_shapes,
    floating_as_x,
    floating_broadcast,
    part_dtype,
    part_of_x,
    require_same_dtype,
    same_as_x,
)
from engine.core.operators.opdef import op
from engine.core.values.bfloat import converted
from engine.core.values.dtype import as_dtype, bfloat16, bool_
from engine.core.values.spec import Spec


@traits.complex_gradient
@op("conj", infer=same_as_x)
def conj(xp, x, *, out=None):
    """The complex conjugate; the value of a real x."""
    return xp.conjugate(x, out=out)


conj.grad(x=lambda g: conj(g))


def conjugate(x: Attached) -> Any:
    """The conjugate of a complex tensor; a real one itself."""
    return conj(x) if x.dtype.is_complex else x


@traits.broadcasts
@traits.complex_gradient
@op("elementwise_add", infer=broadcast("add"))
def add(xp, x, y, *, axis=-1, out=None):
    """x + y."""
    return xp.add(x, y, out=out)


add.grad(x=lambda g: g, y=lambda g: g)


@traits.broadcasts
@traits.complex_gradient
@op("elementwise_sub", infer=broadcast("subtract"))
def subtract(xp, x, y, *, axis=-1, out=None):
    """x - y."""
    return xp.subtract(x, y, out=out)


subtract.grad(x=lambda g: g, y=lambda g: scale(g, scale=-1.0))


@traits.broadcasts
@traits.complex_gradient
@op("elementwise_mul", infer=broadcast("multiply"))
def multiply(xp, x, y, *, axis=-1, out=None):
    """x * y."""
    return xp.multiply(x, y, out=out)


multiply.grad(x=lambda g, y: multiply(g, conjugate(y)), y=lambda g, x: multiply(g, conjugate(x)))


@traits.broadcasts
@traits.complex_gradient
@op("elementwise_div", infer=floating_broadcast("divide"))
def divide(xp, x, y, *, axis=-1, out=None):
    """x / y; the public function casts integers, so that they divide like floats."""
    return xp.divide(x, y, out=out)


divide.grad(
    x=lambda g, y: divide(g, conjugate(y)),
    y=lambda g, y, out: scale(divide(multiply(g, conjugate(out)), conjugate(y)), scale=-1.0),
)


@traits.complex_gradient
@op("scale", infer=same_as_x)
def scale(xp, x, *, scale=1.0, bias=0.0, bias_after_scale=True, out=None):
    """x * scale + bias, in the dtype of x."""
    # A Python float takes the dtype of a floating x; converting it to a NumPy number would double the cost.
    kind = x.dtype.kind
    number = float if kind == "f" and xp is np else _wrapped if kind == "u" else x.dtype.type
    factor = number(scale)
    if factor == -1 and (bias_after_scale or bias == 0):
        return xp.subtract(number(bias), x, out=out)  # 0 - 0 is 0; 0 * -1 would be -0
    if bias == 0:
        return xp.multiply(x, factor, out=out)
    shift = number(bias)
    if not bias_after_scale:
        return xp.multiply(xp.add(x, shift, out=out), factor, out=out)
    if factor == 1:
        return xp.add(x, shift, out=out)
    return xp.add(xp.multiply(x, factor, out=out), shift, out=out)


_scale = scale


def _wrapped(value: float) -> np.uint8:
    """A number as uint8, around at its limits."""
    return np.uint8(int(value) % 256)


scale.grad(x=lambda g, scale: _scale(g, scale=scale))


def _infer_cast(x: Spec, *, out_dtype: Any, **_: Any) -> Spec:
    return x.with_dtype(as_dtype(out_dtype))


@traits.complex_gradient
@op("cast", infer=_infer_cast)
def cast(xp, x, *, out_dtype):
    """x in another dtype, always a new array; a real one keeps the real parts of complex numbers."""
    wanted = as_dtype(out_dtype)
    if x.dtype.kind == "c" and not wanted.is_complex and wanted is not bool_:
        x = x.real
    return converted(xp, x, wanted) if wanted is bfloat16 else x.astype(wanted.np)


cast.grad(x=lambda g, x_like: cast(g, out_dtype=x_like.dtype))


@traits.complex_gradient
@op("abs", infer=part_of_x)
def absolute(xp, x, *, out=None):
    """Absolute value; real for a complex x."""
    return xp.absolute(x, out=out)


absolute.grad(x=lambda g, x: g * sign(x))


@traits.complex_gradient
@op("sign", infer=same_as_x)
def sign(xp, x, *, out=None):
    """-1, 0 or 1; x / |x| for a complex x, 0 where it is 0."""
    return xp.sign(x, out=out)


def _sign_grad(g: Any, x: Any, out: Any) -> Any:
    """The part of a complex g that is perpendicular to x, divided by |x|."""
    if not x.dtype.is_complex:
        return scale(g, scale=0.0)
    across = g / absolute(x)
    along = cast(across * conj(out), out_dtype=part_dtype(x.dtype))
    return across - along * out


sign.grad(x=_sign_grad)


def _infer_add_n(xs: list[Spec], **_: Any) -> Spec:
    require_same_dtype("add_n", **{f"inputs[{n}]": s for n, s in enumerate(xs)})
    result = xs[0]
    for spec in xs[1:]:
        result = broadcast("add_n")(result, spec)
    return result


@traits.complex_gradient
@op("sum", infer=_infer_add_n, slots={"xs": "X"})
def add_n(xp, xs: list):
    """The sum of several tensors of one shape."""
    total = xs[0].copy()
    for x in xs[1:]:
        if x.dtype != total.dtype:
            raise ValueError("dtypes differ")  # inference explains the error
        total += x
    return total


add_n.grad(xs=lambda g, xs_spec: [g for _ in xs_spec])


@traits.broadcasts
@op("elementwise_heaviside", infer=broadcast("heaviside"))
def heaviside(xp, x, y, *, axis=-1):
    """0 where x is negative, y where it is 0, else 1."""
    return xp.where(xp.isnan(x), x, xp.where(x == 0, y, (x > 0).astype(x.dtype)))


heaviside.grad(x=lambda g: scale(g, scale=0.0), y=lambda g, x: g * cast(x == 0.0, out_dtype=g.dtype))


def _infer_lerp(x: Spec, y: Spec, weight: Spec) -> Spec:
    dtype = require_same_dtype("lerp", x=x, y=y, weight=weight)
    floating_as_x("lerp")(x)
    return Spec(broadcast_shapes("lerp", broadcast_shapes("lerp", x.shape, y.shape), weight.shape), dtype)


@traits.holomorphic
@traits.broadcasts
@op("lerp", infer=_infer_lerp)
def lerp(xp, x, y, weight):
    """x + weight * (y - x), exact at both ends."""
    if not x.dtype == y.dtype == weight.dtype:
        raise ValueError("dtypes differ")  # inference explains the error
    step = y - x
    return xp.where(weight < 0.5, x + weight * step, y - (1 - weight) * step)


lerp.grad(
    x=lambda g, weight: g * (1.0 - weight),
    y=lambda g, weight: g * weight,
    weight=lambda g, x, y: g * (y - x),
)
