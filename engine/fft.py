"""``paddle.fft``: discrete Fourier transforms of one, two and several dimensions, and their frequencies.

A transform of x takes ``n`` elements along ``axis`` (``s`` along ``axes``): further elements are cut off,
missing ones are zeros. ``norm`` selects the direction that is scaled: 'backward' the inverse one by 1/n,
'forward' the forward one by 1/n, 'ortho' both by 1/sqrt(n). _Sizes become the default dtype first; float32
gives complex64, float64 gives complex128, and back. All raise ArgumentError for arguments of another kind,
DTypeError for bool and float16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError
from engine.core.values.dtype import default_dtype
from engine.ops.elementwise import arithmetic
from engine.ops.images import padding
from engine.ops.signal import transforms as ops
from engine.program.build.calls import named
from engine.tensor import creation, manipulation
from engine.tensor.arguments.caught import explain_public as _explain_public
from engine.tensor.arguments.factories import as_complex_values
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.elements import arranging
from engine.tensor.tensor_like import AnyTensor, DTypeLike

__all__ = [
    "fft",
    "ifft",
    "rfft",
    "irfft",
    "hfft",
    "ihfft",
    "fft2",
    "ifft2",
    "rfft2",
    "irfft2",
    "hfft2",
    "ihfft2",
    "fftn",
    "ifftn",
    "rfftn",
    "irfftn",
    "hfftn",
    "ihfftn",
    "fftfreq",
    "rfftfreq",
    "fftshift",
    "ifftshift",
]

_NORMS = ("forward", "backward", "ortho")

# Sizes or axes; None for the default ones.
_Sizes: TypeAlias = Sequence[int] | None

# Sizes (None: as they are) and axes, counted from the front, of a transform.
_Plan = tuple[list[int] | None, list[int]]


# -- arguments ---------------------------------------------------------------------------------------------


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _require(where: str, x: Any, norm: Any) -> None:
    if not is_tensor(x):
        raise DTypeError(f"{where}: x must be a Tensor: got {type(x).__name__}; use to_tensor()")
    if norm not in _NORMS:
        raise ArgumentError(f"{where}: norm {norm!r} is not one of {', '.join(_NORMS)}")


def _axes(where: str, x: Any, axes: Any) -> list[int]:
    """Axes counted from the front. Raises ArgumentError for axes that x does not have."""
    if not isinstance(axes, Sequence) or len(axes) > x.ndim:
        kind = ArgumentError if x.ndim else OutOfRangeError
        raise kind(f"{where}: axes must be at most {x.ndim} integers in a list: got {axes!r}")
    for axis in axes:
        if not _is_whole(axis) or not -x.ndim <= axis < x.ndim:
            raise ArgumentError(
                f"{where}: axis {axis!r} is out of range for {x.ndim} dimensions; "
                f"use {-x.ndim} to {x.ndim - 1}"
            )
    return [axis % x.ndim for axis in axes]


def _sizes(where: str, x: Any, s: Any) -> list[int]:
    if not isinstance(s, Sequence) or len(s) > x.ndim:
        raise ArgumentError(f"{where}: s has at most {x.ndim} integers in a list: got {s!r}")
    if not all(_is_whole(n) and n > 0 for n in s):
        raise ArgumentError(f"{where}: sizes are integers of at least 1: got {s!r}")
    return list(s)


def _one(where: str, x: Any, n: Any, axis: Any) -> _Plan:
    axes = _axes(where, x, [-1 if axis is None else axis])
    return None if n is None else _sizes(where, x, [n]), axes


def _several(where: str, x: Any, s: Any, axes: Any, halves: bool) -> _Plan:
    """Several axes in ascending order; the last one stays where it is if the transform ``halves`` it."""
    sizes = None if s is None else _sizes(where, x, s)
    if axes is None:
        count = x.ndim if sizes is None else len(sizes)
        return sizes, list(range(x.ndim - count, x.ndim))
    found = _axes(where, x, axes)
    if sizes is not None and len(sizes) != len(found):
        raise ArgumentError(f"{where}: s has {len(sizes)} numbers, axes {len(found)}; give one for each axis")
    moving = len(found) - halves
    order = [*sorted(range(moving), key=lambda n: found[n]), *range(moving, len(found))]
    return None if sizes is None else [sizes[n] for n in order], [found[n] for n in order]


def _two(where: str, x: Any, s: Any, axes: Any) -> None:
    if is_tensor(x) and x.ndim < 2:
        raise ArgumentError(f"{where}: x needs at least 2 dimensions: got {list(x.shape)}; use fft()")
    for name, value in (("s", s), ("axes", axes)):
        if value is not None and (not isinstance(value, Sequence) or len(value) != 2):
            raise ArgumentError(f"{where}: {name} must be a list of two integers: got {value!r}")


def _resized(x: Any, sizes: list[int] | None, axes: list[int]) -> Any:
    """x with ``sizes`` along ``axes``: cut off, or with zeros behind."""
    if sizes is None:
        return x
    shape = [int(d) for d in x.shape]
    wanted = dict(zip(axes, sizes, strict=True))
    # A size that only the running Program knows gets as many zeros as there may be too few elements.
    zeros = {axis: size if shape[axis] < 0 else max(size - shape[axis], 0) for axis, size in wanted.items()}
    cut = [axis for axis, size in wanted.items() if not 0 <= shape[axis] <= size]
    unknown = [axis for axis in cut if shape[axis] < 0]
    known = [axis for axis in cut if shape[axis] >= 0]
    if known:
        x = arranging.slice_(x, known, [0] * len(known), [wanted[axis] for axis in known])
    if any(zeros.values()):
        paddings = [0] * (2 * x.ndim)
        for axis, count in zeros.items():
            paddings[2 * axis + 1] = count
        x = padding.pad(x, paddings=paddings, pad_value=0.0)
    if unknown:
        x = arranging.slice_(x, unknown, [0] * len(unknown), [wanted[axis] for axis in unknown])
    return x


# -- the three kinds of transforms -------------------------------------------------------------------------


def _as_real(x: Any) -> Any:
    return arithmetic.cast(x, out_dtype=default_dtype().name) if x.dtype.is_integer else x


def _c2c(x: Any, plan: _Plan, norm: str, forward: bool, name: str | None) -> Any:
    sizes, axes = plan
    x = _resized(as_complex_values(x), sizes, axes)
    return _named(name, ops.fft_c2c, x, axes=axes, normalization=norm, forward=forward)


def _r2c(x: Any, plan: _Plan, norm: str, forward: bool, onesided: bool, name: str | None) -> Any:
    sizes, axes = plan
    x = _resized(_as_real(x), sizes, axes)
    return _named(name, ops.fft_r2c, x, axes=axes, normalization=norm, forward=forward, onesided=onesided)


def _c2r(x: Any, plan: _Plan, norm: str, forward: bool, name: str | None) -> Any:
    sizes, axes = plan
    if sizes is not None:
        sizes, size = [*sizes[:-1], sizes[-1] // 2 + 1], sizes[-1]
    else:
        size = 0
    x = _resized(as_complex_values(x), sizes, axes)
    return _named(name, ops.fft_c2r, x, axes=axes, normalization=norm, forward=forward, last_dim_size=size)


def _named(name: str | None, function: Callable[..., Any], x: Any, **attrs: Any) -> Any:
    return named(name, function, x, **attrs) if name else function(x, **attrs)


def _is_real(x: Any) -> bool:
    return bool(x.dtype.is_integer or x.dtype.is_floating_point)


# -- one dimension -----------------------------------------------------------------------------------------


def fft(
    x: AnyTensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None
) -> Any:
    """The transform along one axis; all frequencies, of real values too."""
    return _full("fft", x, n, axis, norm, True, name)


def ifft(
    x: AnyTensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse transform along one axis."""
    return _full("ifft", x, n, axis, norm, False, name)


def _full(where: str, x: Any, n: Any, axis: Any, norm: str, forward: bool, name: str | None) -> Any:
    _require(where, x, norm)
    plan = _one(where, x, n, axis)
    return _r2c(x, plan, norm, forward, False, name) if _is_real(x) else _c2c(x, plan, norm, forward, name)


def rfft(
    x: AnyTensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None
) -> Any:
    """The transform of real values along one axis: its n // 2 + 1 frequencies that are not negative."""
    _require("rfft", x, norm)
    return _r2c(x, _one("rfft", x, n, axis), norm, True, True, name)


def irfft(
    x: AnyTensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse of rfft: ``n`` real values, 2 * (size - 1) by default."""
    _require("irfft", x, norm)
    return _c2r(x, _one("irfft", x, n, axis), norm, False, name)


def hfft(
    x: AnyTensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None
) -> Any:
    """The transform of a signal whose other half is its conjugate: ``n`` real values."""
    _require("hfft", x, norm)
    return _c2r(x, _one("hfft", x, n, axis), norm, True, name)


def ihfft(
    x: AnyTensor, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse of hfft: one half of the signal, n // 2 + 1 values."""
    _require("ihfft", x, norm)
    return _r2c(x, _one("ihfft", x, n, axis), norm, False, True, name)


# -- several dimensions ------------------------------------------------------------------------------------


def fftn(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The transform over ``axes``: all, or the last ones that ``s`` has sizes for."""
    return _full_n("fftn", x, s, axes, norm, True, name)


def ifftn(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse transform over ``axes``."""
    return _full_n("ifftn", x, s, axes, norm, False, name)


def _full_n(where: str, x: Any, s: Any, axes: Any, norm: str, forward: bool, name: str | None) -> Any:
    _require(where, x, norm)
    real = _is_real(x)
    plan = _several(where, x, s, axes, real)
    return _r2c(x, plan, norm, forward, False, name) if real else _c2c(x, plan, norm, forward, name)


def rfftn(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The transform of real values over ``axes``: frequencies along the last one are not negative."""
    _require("rfftn", x, norm)
    return _r2c(x, _several("rfftn", x, s, axes, True), norm, True, True, name)


def irfftn(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse of rfftn, with 2 * (size - 1) real values along the last axis by default."""
    _require("irfftn", x, norm)
    return _c2r(x, _several("irfftn", x, s, axes, True), norm, False, name)


def hfftn(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The transform of signals whose other half along the last axis is their conjugate; real values."""
    _require("hfftn", x, norm)
    return _c2r(x, _several("hfftn", x, s, axes, True), norm, True, name)


def ihfftn(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse of hfftn: one half of the signals along the last axis."""
    _require("ihfftn", x, norm)
    return _r2c(x, _several("ihfftn", x, s, axes, True), norm, False, True, name)


# -- two dimensions ----------------------------------------------------------------------------------------


def fft2(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """The transform over two axes. Raises ArgumentError for x of fewer dimensions."""
    _two("fft2", x, s, axes)
    return fftn(x, s, axes, norm, name)


def ifft2(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse transform over two axes."""
    _two("ifft2", x, s, axes)
    return ifftn(x, s, axes, norm, name)


def rfft2(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """rfftn over two axes."""
    _two("rfft2", x, s, axes)
    return rfftn(x, s, axes, norm, name)


def irfft2(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """irfftn over two axes."""
    _two("irfft2", x, s, axes)
    return irfftn(x, s, axes, norm, name)


def hfft2(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """hfftn over two axes."""
    _two("hfft2", x, s, axes)
    return hfftn(x, s, axes, norm, name)


def ihfft2(
    x: AnyTensor, s: _Sizes = None, axes: _Sizes = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """ihfftn over two axes."""
    _two("ihfft2", x, s, axes)
    return ihfftn(x, s, axes, norm, name)


# -- frequencies -------------------------------------------------------------------------------------------


def _step(where: str, n: Any, d: Any) -> float:
    """The distance of two frequencies."""
    if n < 0 or d * n == 0:
        raise ArgumentError(f"{where}: n is at least 1 and d is not 0: got n {n} and d {d}")
    return float(1.0 / (n * d))


def fftfreq(n: int, d: float = 1.0, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """The frequencies of fft's result, of ``n`` samples ``d`` apart: from 0 up, then the negative ones.

    They are of the default dtype; ``dtype`` is not looked at, as in Paddle.
    """
    step = _step("fftfreq", n, d)
    counted = creation.arange(-(n // 2), (n + 1) // 2, dtype=default_dtype().name, name=name)
    return arranging.roll(counted, -(n // 2), name=name) * step


def rfftfreq(n: int, d: float = 1.0, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """The frequencies of rfft's result, of ``n`` samples ``d`` apart.

    They are of the default dtype; ``dtype`` is not looked at, as in Paddle.
    """
    step = _step("rfftfreq", n, d)
    return creation.arange(0, 1 + n // 2, dtype=default_dtype().name, name=name) * step


def fftshift(x: AnyTensor, axes: int | Sequence[int] | None = None, name: str | None = None) -> Any:
    """Frequencies in ascending order, 0 in the middle of each of ``axes`` (all by default)."""
    return _shifted("fftshift", x, axes, 0, name)


def ifftshift(x: AnyTensor, axes: int | Sequence[int] | None = None, name: str | None = None) -> Any:
    """The inverse of fftshift, for odd sizes too."""
    return _shifted("ifftshift", x, axes, 1, name)


def _shifted(where: str, x: Any, axes: Any, more: int, name: str | None) -> Any:
    if not is_tensor(x):
        raise DTypeError(f"{where}: x must be a Tensor: got {type(x).__name__}; use to_tensor()")
    chosen = list(range(x.ndim)) if axes is None else [axes] if _is_whole(axes) else axes
    found = _axes(where, x, chosen)
    if modes.is_symbolic(x):
        return arranging.roll(x, _half_sizes(x, axes, more), chosen, name=name)
    return arranging.roll(x, [(x.shape[axis] + more) // 2 for axis in found], chosen, name=name)


def _half_sizes(x: Any, axes: Any, more: int) -> Any:
    """Half the sizes of the axes as a tensor: those that only the running Program knows too."""

    def half(sizes: Any) -> Any:
        return (sizes + more if more else sizes) // 2

    sizes = manipulation.shape(x)
    if axes is None:
        return half(sizes)
    if _is_whole(axes):
        return half(sizes[axes])
    return manipulation.concat([half(sizes[axis : axis + 1 or None]) for axis in axes])


_explain_public(globals())
