"""Discrete Fourier transforms over one or several axes: complex, of real values, and to real values.

``normalization`` selects the direction that is scaled: 'backward' the inverse one by 1/n, 'forward' the
forward one by 1/n, 'ortho' both by 1/sqrt(n), where n is the number of elements that are transformed
together. With ``forward`` the exponent is negative. The last of ``axes`` is the one of which a transform of
real values keeps one half (``onesided``), since the other one is its conjugate.

Gradients follow the field's convention: that of a complex x is dL/d(real) + i dL/d(imag). The transforms are
linear, so each one's gradient is its adjoint: the same scale in the other direction.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Count, Size
from engine.core.operators.infer import normal_axes, part_dtype
from engine.core.operators.opdef import op
from engine.core.values.dtype import complex64, complex128, float32, float64
from engine.core.values.spec import Spec

# The normalization under which the other direction has the same scale.
_ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
_COMPLEX = {float32: complex64, float64: complex128}


def _require_axes(where: str, x: Spec, axes: Any) -> None:
    """Raise where there is nothing to transform along ``axes``, or one is named twice."""
    if not axes:
        raise ArgumentError(f"{where}: axes are empty for {x}; name at least one axis")
    for axis in normal_axes(where, axes, x.ndim):
        if x.shape[axis] == 0:
            raise ShapeError(f"{where}: axis {axis} of {x} has no elements; give at least one, or n")


def _require_real(where: str, x: Spec) -> None:
    if x.dtype not in _COMPLEX:
        raise DTypeError(f"{where}: x must be float32 or float64: got {x}; cast it first")


def _require_complex(where: str, x: Spec) -> None:
    if not x.dtype.is_complex:
        raise DTypeError(f"{where}: x must be complex64 or complex128: got {x}; cast it first")


def _refuse(kind: str, x: Any, axes: Any) -> None:
    """Raise for errors that inference explains, where NumPy would compute something."""
    if x.dtype.kind != kind or x.dtype.itemsize < 4 or not axes or len({*axes}) != len(axes):
        raise TypeError("wrong dtype or axes")


def _sized(x: Spec, axis: int, size: int) -> Spec:
    """x with another size of one axis."""
    axis %= x.ndim
    return x.with_shape((*x.shape[:axis], size, *x.shape[axis + 1 :]))


def _interior(xp: Any, x: Any, axis: int, size: int, factor: float) -> Any:
    """Multiply elements of x that represent two conjugate ones of ``size`` by a factor, in place."""
    xp.moveaxis(x, axis, -1)[..., 1 : (size + 1) // 2] *= factor
    return x


def _transformed(xp: Any, name: str, x: Any, axes: Any, normalization: str) -> Any:
    """The array module's transform ``name``: that for one axis takes less time to call."""
    if len(axes) == 1:
        return getattr(xp.fft, name)(x, axis=axes[0], norm=normalization)
    return getattr(xp.fft, f"{name}n")(x, axes=axes, norm=normalization)


# -- complex to complex ------------------------------------------------------------------------------------


def _infer_c2c(x: Spec, *, axes: Any, **_: Any) -> Spec:
    _require_complex("fft_c2c", x)
    _require_axes("fft_c2c", x, axes)
    return x


@traits.complex_gradient
@op("fft_c2c", infer=_infer_c2c)
def fft_c2c(xp, x, *, axes: Count, normalization, forward):
    """The transform of complex values."""
    _refuse("c", x, axes)
    return _transformed(xp, "fft" if forward else "ifft", x, axes, normalization)


fft_c2c.grad(
    x=lambda g, axes, normalization, forward: fft_c2c(
        g, axes=axes, normalization=_ADJOINT[normalization], forward=not forward
    )
)


# -- real to complex ---------------------------------------------------------------------------------------


def _infer_r2c(x: Spec, *, axes: Any, onesided: bool, **_: Any) -> Spec:
    _require_real("fft_r2c", x)
    _require_axes("fft_r2c", x, axes)
    made = x.with_dtype(_COMPLEX[x.dtype])
    size = x.shape[axes[-1]]
    return _sized(made, axes[-1], size // 2 + 1) if onesided and size > 0 else made


@traits.complex_gradient
@op("fft_r2c", infer=_infer_r2c)
def fft_r2c(xp, x, *, axes: Count, normalization, forward, onesided):
    """The transform of real values."""
    _refuse("f", x, axes)
    if not onesided:
        return _transformed(xp, "fft" if forward else "ifft", x, axes, normalization)
    if forward:
        return _transformed(xp, "rfft", x, axes, normalization)
    made = _transformed(xp, "rfft", x, axes, _ADJOINT[normalization])
    return xp.conjugate(made, out=made)


@traits.complex_gradient
@op(
    "fft_r2c_grad",
    infer=lambda x, g_in, **_: x,
    outputs=("x_grad",),
    slots={"g_in": "Out@GRAD", "x_grad": "X@GRAD"},
)
def fft_r2c_grad(xp, x, g_in, *, axes: Count, normalization, forward, onesided):
    """The adjoint of fft_r2c: real values from all elements that they have a part in."""
    back = {"axes": axes, "normalization": _ADJOINT[normalization], "forward": not forward}
    if not onesided:
        return fft_c2c.opdef.kernel(xp, g_in, **back).real.copy()
    size = x.shape[axes[-1]]
    halved = _interior(xp, g_in.copy(), axes[-1], size, 0.5)
    return fft_c2r.opdef.kernel(xp, halved, **back, last_dim_size=size)


fft_r2c.grad(x=lambda g, x_like, **attrs: fft_r2c_grad(x_like, g, **attrs))
fft_r2c_grad.grad(g_in=lambda g, **attrs: fft_r2c(g, **attrs))


# -- complex to real ---------------------------------------------------------------------------------------


def _infer_c2r(x: Spec, *, axes: Any, last_dim_size: int = 0, **_: Any) -> Spec:
    _require_complex("fft_c2r", x)
    _require_axes("fft_c2r", x, axes)
    half = x.shape[axes[-1]]
    size = last_dim_size or (half if half < 0 else 2 * (half - 1))
    if size == 0:
        raise ShapeError(
            f"fft_c2r: axis {axes[-1]} of {x} is half of a result without elements; give the result's size n"
        )
    if half > 0 and half != size // 2 + 1:
        raise ShapeError(
            f"fft_c2r: {size} real values need {size // 2 + 1} complex ones along axis {axes[-1]}: got {x}; "
            "cut off the others, or add zeros"
        )
    return _sized(x.with_dtype(part_dtype(x.dtype)), axes[-1], size)


@traits.complex_gradient
@op("fft_c2r", infer=_infer_c2r)
def fft_c2r(xp, x, *, axes: Count, normalization, forward, last_dim_size: Size = 0):
    """The transform to ``last_dim_size`` real values, of half of the values: the others are conjugates.

    Without ``last_dim_size`` it is even.
    """
    _refuse("c", x, axes)
    half = x.shape[axes[-1]]
    size = last_dim_size or 2 * (half - 1)
    if half != size // 2 + 1:
        raise ValueError("not one half")  # inference explains the error
    if forward:
        x, normalization = x.conj(), _ADJOINT[normalization]
    if len(axes) == 1:
        return xp.fft.irfft(x, n=size, axis=axes[0], norm=normalization)
    sizes = [*(x.shape[a] for a in axes[:-1]), size]
    return xp.fft.irfftn(x, s=sizes, axes=axes, norm=normalization)


def _infer_c2r_grad(g_in: Spec, *, axes: Any, last_dim_size: int = 0, **_: Any) -> Spec:
    size = last_dim_size or g_in.shape[axes[-1]]
    return _sized(g_in.with_dtype(_COMPLEX[g_in.dtype]), axes[-1], size // 2 + 1 if size > 0 else -1)


@traits.complex_gradient
@op(
    "fft_c2r_grad",
    infer=_infer_c2r_grad,
    outputs=("x_grad",),
    slots={"g_in": "Out@GRAD", "x_grad": "X@GRAD"},
)
def fft_c2r_grad(xp, g_in, *, axes: Count, normalization, forward, last_dim_size: Size = 0):
    """The adjoint of fft_c2r: complex values from all elements that they have a part in, as two."""
    made = fft_r2c.opdef.kernel(
        xp, g_in, axes=axes, normalization=_ADJOINT[normalization], forward=not forward, onesided=True
    )
    return _interior(xp, made, axes[-1], g_in.shape[axes[-1]], 2.0)


fft_c2r.grad(x=lambda g, **attrs: fft_c2r_grad(g, **attrs))
fft_c2r_grad.grad(g_in=lambda g, **attrs: fft_c2r(g, **attrs))
