"""Memory read in other strides or dtypes: windows, as_strided, view."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Count, Size
from engine.core.operators.infer import gradient_like, normal_axis
from engine.core.operators.opdef import op
from engine.core.values.bfloat import adopt, plain
from engine.core.values.dtype import as_dtype
from engine.core.values.spec import Spec


def _infer_unfold(x: Spec, *, axis: int, size: int, step: int) -> Spec:
    axis = normal_axis("unfold", axis, x.ndim)
    if size < 0 or step < 1 or 0 <= x.shape[axis] < size:
        raise ArgumentError(
            f"unfold: windows of {size} every {step} along axis {axis} of {x}; the size is at most that of "
            "the dimension, the step at least 1"
        )
    count = -1 if x.shape[axis] < 0 else (x.shape[axis] - size) // step + 1
    return x.with_shape((*x.shape[:axis], count, *x.shape[axis + 1 :], size))


@traits.complex_gradient
@op("tensor_unfold", infer=_infer_unfold)
def unfold(xp, x, *, axis: Count, size: Size, step: Size):
    """Windows of ``size`` elements every ``step`` along an axis, as a new last dimension."""
    spec = _infer_unfold(Spec(x.shape, "float32"), axis=axis, size=size, step=step)
    axis %= x.ndim
    places = step * xp.arange(spec.shape[axis])[:, None] + xp.arange(size)
    return xp.ascontiguousarray(xp.moveaxis(xp.take(x, places, axis=axis), axis + 1, -1))


@op("tensor_unfold_grad", infer=gradient_like("tensor_unfold_grad", _infer_unfold))
def _fold(xp, g_in, like, *, axis: Count, size: Size, step: Size):
    """Zeros like ``like`` with each window of g_in added at its place."""
    result = xp.zeros(like.shape, g_in.dtype)
    moved = xp.moveaxis(result, axis, -1)
    windows = xp.moveaxis(g_in, axis % like.ndim, -2)
    starts = step * xp.arange(windows.shape[-2])
    for n in range(size):  # starts are unique in each iteration, so += adds all of them
        moved[..., starts + n] += windows[..., n]
    return result


_fold.grad(g_in=lambda g, **attrs: unfold(g, **attrs))
unfold.grad(x=lambda g, x_like, **attrs: _fold(g, x_like, **attrs))


def _infer_strided(x: Spec, *, shape: Any, stride: Any, offset: int = 0) -> Spec:
    if len(shape) != len(stride) or any(v < 0 for v in (*shape, *stride, offset)):
        raise ArgumentError(
            f"as_strided: shape {list(shape)}, stride {list(stride)} and offset {offset}; "
            "give one stride for each dimension, none negative"
        )
    last = offset + sum((d - 1) * s for d, s in zip(shape, stride, strict=True))
    if x.size >= 0 and 0 not in shape and last >= x.size:
        raise OutOfRangeError(
            f"as_strided: shape {list(shape)} with stride {list(stride)} from {offset} reads element {last}: "
            f"{x} has {x.size}"
        )
    return x.with_shape(shape)


def _strided_places(xp: Any, shape: Any, stride: Any, offset: int) -> Any:
    places = xp.full(tuple(shape), offset)
    for n, (size, step) in enumerate(zip(shape, stride, strict=True)):
        places += (step * xp.arange(size)).reshape((size,) + (1,) * (len(shape) - 1 - n))
    return places


@op("as_strided", infer=_infer_strided, slots={"x": "Input"})
def as_strided(xp, x, *, shape: Size, stride: Size, offset: Size = 0):
    """Elements at ``offset + sum(index * stride)`` of x in row-major order, copied."""
    _infer_strided(Spec(x.shape, "float32"), shape=shape, stride=stride, offset=offset)
    return x.reshape(-1)[_strided_places(xp, shape, stride, offset)]


@op("as_strided_grad", infer=gradient_like("as_strided_grad", _infer_strided))
def _strided_add(xp, g_in, like, *, shape: Size, stride: Size, offset: Size = 0):
    """Zeros like ``like`` with g_in added at the places that as_strided reads."""
    result = xp.zeros(like.size, g_in.dtype)
    xp.add.at(result, _strided_places(xp, shape, stride, offset), g_in)
    return result.reshape(like.shape)


_strided_add.grad(g_in=lambda g, **attrs: as_strided(g, **attrs))
as_strided.grad(x=lambda g, x_like, **attrs: _strided_add(g, x_like, **attrs))


@op("view_dtype", infer=lambda x, *, dtype: _infer_view_dtype(x, dtype), view=True, slots={"x": "Input"})
def view_dtype(xp, x, *, dtype):
    """The bytes of x read as another dtype. A view."""
    return adopt(plain(xp.ascontiguousarray(x)).view(as_dtype(dtype).np))


def _infer_view_dtype(x: Spec, dtype: str) -> Spec:
    have, want = x.dtype.itemsize, as_dtype(dtype).itemsize
    if have == want:
        return x.with_dtype(dtype)
    if not x.shape or (x.shape[-1] >= 0 and x.shape[-1] * have % want):
        raise ShapeError(
            f"view: the last dimension of {x} does not fill whole elements of {dtype} ({want} bytes)"
        )
    last = x.shape[-1] if x.shape[-1] < 0 else x.shape[-1] * have // want
    return Spec((*x.shape[:-1], last), dtype)
