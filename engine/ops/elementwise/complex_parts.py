"""Complex numbers from and to their parts.

Gradients follow the field's convention: that of a complex x is dL/d(real) + i dL/d(imag).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import DTypeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.infer import broadcast, broadcast_shapes, part_dtype, part_of_x
from engine.core.operators.opdef import op
from engine.core.values.dtype import DType, complex64, complex128, float32, float64
from engine.core.values.spec import Spec
from engine.ops.arrays import creation
from engine.ops.elementwise import arithmetic


def _complex_of(where: str, spec: Spec) -> DType:
    found = {float32: complex64, float64: complex128}.get(spec.dtype)
    if found is None:
        raise DTypeError(f"{where}: the parts must be float32 or float64: got {spec}; cast them first")
    return found


def _require_complex(where: str, x: Spec) -> None:
    if not x.dtype.is_complex:
        raise DTypeError(
            f"{where}: x must be complex64 or complex128: got {x}; a real tensor is its own part"
        )


def _infer_part(where: str) -> Any:
    def infer(x: Spec) -> Spec:
        _require_complex(where, x)
        return x.with_dtype(part_dtype(x.dtype))

    return infer


def _refuse_real(x: Any) -> None:
    if x.dtype.kind != "c":
        raise TypeError("not complex")  # inference explains the error


@traits.complex_gradient
@op("real", infer=_infer_part("real"))
def real(xp, x):
    """The real part."""
    _refuse_real(x)
    return x.real.copy()


@traits.complex_gradient
@op("imag", infer=_infer_part("imag"))
def imag(xp, x):
    """The imaginary part."""
    _refuse_real(x)
    return x.imag.copy()


def _infer_complex(real: Spec, imag: Spec) -> Spec:
    broadcast("complex")(real, imag)
    return Spec(broadcast_shapes("complex", real.shape, imag.shape), _complex_of("complex", real))


@traits.broadcasts
@traits.complex_gradient
@op("complex", infer=_infer_complex, slots={"real": "X", "imag": "Y"})
def from_parts(xp, real, imag):
    """real + i imag."""
    if real.dtype != imag.dtype or real.dtype.kind != "f" or real.dtype.itemsize < 4:
        raise TypeError("wrong dtypes")  # inference explains the error
    made = xp.empty(np.broadcast_shapes(real.shape, imag.shape), xp.result_type(real.dtype, xp.complex64))
    made.real = real
    made.imag = imag
    return made


real.grad(x=lambda g: from_parts(g, creation.fill_like(g, value=0.0)))
imag.grad(x=lambda g: from_parts(creation.fill_like(g, value=0.0), g))
from_parts.grad(real=lambda g: real(g), imag=lambda g: imag(g))


@traits.complex_gradient
@op("angle", infer=part_of_x)
def angle(xp, x):
    """The argument of a complex number, in radians in [-pi, pi]; of a real one 0 or pi."""
    if x.dtype.kind == "c":
        return xp.angle(x)
    return xp.where(xp.isnan(x), x, xp.where(x < 0, x.dtype.type(xp.pi), x.dtype.type(0)))


def _angle_grad(g: Any, x: Any) -> Any:
    if not x.dtype.is_complex:
        return arithmetic.scale(g, scale=0.0)
    a, b = real(x), imag(x)
    square = a * a + b * b
    return from_parts(arithmetic.scale(g * b / square, scale=-1.0), g * a / square)


angle.grad(x=_angle_grad)


def _infer_as_complex(x: Spec) -> Spec:
    if x.ndim == 0 or x.shape[-1] not in (2, -1):
        raise ShapeError(f"as_complex: the last dimension holds real and imaginary part, so it is 2: got {x}")
    return Spec(x.shape[:-1], _complex_of("as_complex", x))


@traits.complex_gradient
@op("as_complex", infer=_infer_as_complex)
def as_complex(xp, x):
    """Complex numbers from pairs along the last dimension."""
    if x.ndim == 0 or x.shape[-1] != 2:
        raise ValueError("no pairs")  # inference explains the error
    return from_parts.opdef.kernel(xp, x[..., 0], x[..., 1])


def _infer_as_real(x: Spec) -> Spec:
    _require_complex("as_real", x)
    return Spec((*x.shape, 2), part_dtype(x.dtype))


@traits.complex_gradient
@op("as_real", infer=_infer_as_real)
def as_real(xp, x):
    """Pairs of real and imaginary part along a new last dimension."""
    _refuse_real(x)
    return xp.stack([x.real, x.imag], axis=-1)


as_complex.grad(x=lambda g: as_real(g))
as_real.grad(x=lambda g: as_complex(g))
