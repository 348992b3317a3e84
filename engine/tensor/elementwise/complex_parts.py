"""Complex tensors and their parts."""

from __future__ import annotations

from typing import Any

from engine.core.errors import DTypeError
from engine.core.values.dtype import common_dtype
from engine.ops.elementwise import arithmetic, trigonometry
from engine.ops.elementwise import complex_parts as ops
from engine.program.build.calls import named
from engine.tensor.arguments.factories import binary, floating, require_tensor
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.tensor_like import AnyTensor, TensorLike

_from_parts = binary("complex", ops.from_parts)


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Any:
    """The complex tensor of two real ones; shapes broadcast."""
    if name:
        return named(name, complex, real, imag)
    return _from_parts(real, imag)


def real(x: AnyTensor, name: str | None = None) -> Any:
    """The real part of a complex tensor. Raises DTypeError for a real one."""
    if name:
        return named(name, real, x)
    return ops.real(x)


def imag(x: AnyTensor, name: str | None = None) -> Any:
    """The imaginary part of a complex tensor. Raises DTypeError for a real one."""
    if name:
        return named(name, imag, x)
    return ops.imag(x)


def conj(x: AnyTensor, name: str | None = None) -> Any:
    """The complex conjugate; the value of a real tensor."""
    if name:
        return named(name, conj, x)
    return arithmetic.conj(x)


def angle(x: AnyTensor, name: str | None = None) -> Any:
    """The argument of each element, in radians; integers become float32 first."""
    if name:
        return named(name, angle, x)
    return ops.angle(floating("angle", x))


def polar(abs: AnyTensor, angle: AnyTensor, name: str | None = None) -> Any:
    """Complex numbers of the given absolute value and angle in radians."""
    if name:
        return named(name, polar, abs, angle)
    require_tensor("polar", abs=abs, angle=angle)
    dtype = common_dtype(abs.dtype, angle.dtype)
    abs, angle = (t if t.dtype is dtype else arithmetic.cast(t, out_dtype=dtype.name) for t in (abs, angle))
    return ops.from_parts(
        arithmetic.multiply(abs, trigonometry.cos(angle)), arithmetic.multiply(abs, trigonometry.sin(angle))
    )


def as_complex(x: AnyTensor, name: str | None = None) -> Any:
    """Complex numbers from a last dimension of 2: real and imaginary part."""
    if name:
        return named(name, as_complex, x)
    return ops.as_complex(x)


def as_real(x: AnyTensor, name: str | None = None) -> Any:
    """Real numbers with a new last dimension of 2: real and imaginary part."""
    if name:
        return named(name, as_real, x)
    return ops.as_real(x)


def is_complex(x: AnyTensor) -> bool:
    """True if the dtype is complex64 or complex128."""
    _require("is_complex", x)
    return bool(x.dtype.is_complex)


def is_floating_point(x: AnyTensor) -> bool:
    """True if the dtype is float16, float32 or float64."""
    _require("is_floating_point", x)
    return bool(x.dtype.is_floating_point)


def is_integer(x: AnyTensor) -> bool:
    """True if the dtype is an integer one; bool is none."""
    _require("is_integer", x)
    return bool(x.dtype.is_integer)


def _require(where: str, x: Any) -> None:
    if not is_tensor(x):
        raise DTypeError(f"{where}: x must be a Tensor: got {type(x).__name__}; use to_tensor()")
