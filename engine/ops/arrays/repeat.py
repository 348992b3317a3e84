"""Repetition of elements along an axis, and grids of coordinates from vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Size
from engine.core.operators.infer import gradient_like, normal_axis
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.spec import Spec
from engine.ops.arrays import creation, shape
from engine.ops.reductions import reduce


def _infer_repeat(x: Spec, *, repeats: int, axis: int = 0) -> Spec:
    axis = normal_axis("repeat_interleave", axis, x.ndim)
    if repeats < 0:
        raise ArgumentError(f"repeat_interleave: repeats must not be negative: got {repeats}; use 0 or more")
    size = x.shape[axis]
    return x.with_shape((*x.shape[:axis], size if size < 0 else size * repeats, *x.shape[axis + 1 :]))


def repeated(xp: ArrayModule, x: Array, counts: Array) -> Any:
    """Each row of x repeated ``counts`` times, an array. CuPy's repeat takes no array."""
    if xp is np:
        return np.repeat(x, counts, axis=0)
    ends = xp.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return x[xp.searchsorted(ends, xp.arange(total), side="right")]


@traits.complex_gradient
@op("repeat_interleave", infer=_infer_repeat)
def repeat_interleave(xp, x, *, repeats: Size, axis=0):
    """Each element along an axis repeated ``repeats`` times."""
    return xp.repeat(x, repeats, axis=axis)


@op("repeat_interleave_grad", infer=gradient_like("repeat_interleave_grad", _infer_repeat))
def _sum_repeats(xp, g_in, like, *, repeats: Size, axis=0):
    """g summed over the copies of each element."""
    axis %= like.ndim
    before, size, after = like.shape[:axis], like.shape[axis], like.shape[axis + 1 :]
    return g_in.reshape((*before, size, repeats, *after)).sum(axis=axis + 1, dtype=g_in.dtype)


_sum_repeats.grad(g_in=lambda g, **attrs: repeat_interleave(g, **attrs))


repeat_interleave.grad(x=lambda g, x_like, **attrs: _sum_repeats(g, x_like, **attrs))


def _infer_repeat_each(x: Spec, repeats: Spec, *, dim: int = 0) -> Spec:
    axis = normal_axis("repeat_interleave", dim, x.ndim)
    if not repeats.dtype.is_integer:
        raise DTypeError(f"repeat_interleave: repeats must be int32 or int64: got {repeats}; cast it")
    sizes = (x.shape[axis], 1 if repeats.ndim == 0 else repeats.shape[0])
    if repeats.ndim > 1 or (1 not in sizes[1:] and -1 not in sizes and sizes[0] != sizes[1]):
        raise ShapeError(
            f"repeat_interleave: repeats is {repeats}: dimension {dim} of x is {x.shape[axis]}; give one "
            "number for each element, or one for all"
        )
    return x.with_shape((*x.shape[:axis], -1, *x.shape[axis + 1 :]))


@op("repeat_interleave_with_tensor_index", infer=_infer_repeat_each, slots={"repeats": "RepeatTensor"})
def repeat_each(xp, x, repeats, *, dim=0):
    """Each element along a dimension repeated by its own number in ``repeats``."""
    return xp.take(x, _copies(xp, x, repeats, dim, None), axis=dim)


def _copies(xp: Any, x: Any, repeats: Any, dim: int, count: int | None) -> Any:
    """The position in x of each element of the result, which has ``count`` of them where that is known."""
    repeats = repeats.reshape(-1)
    if repeats.size and int(repeats.min()) < 0:
        raise ArgumentError(f"repeat_interleave: repeats must not be negative: got {int(repeats.min())}")
    times = xp.broadcast_to(repeats, (x.shape[dim],))
    ends = xp.cumsum(times)
    total = int(ends[-1]) if ends.size else 0
    if count not in (None, total):
        raise ShapeError(f"repeat_interleave: repeats add up to {total}, the gradient has {count} elements")
    return xp.searchsorted(ends, xp.arange(total), side="right")


@op(
    "repeat_interleave_with_tensor_index_grad",
    infer=gradient_like("repeat_interleave_with_tensor_index_grad", _infer_repeat_each),
)
def _sum_copies(xp, g_in, like, repeats, *, dim=0):
    """g summed over the copies of each element."""
    result = xp.zeros(like.shape, g_in.dtype)
    places = _copies(xp, like, repeats, dim, g_in.shape[dim])
    xp.add.at(xp.moveaxis(result, dim, 0), places, xp.moveaxis(g_in, dim, 0))
    return result


_sum_copies.grad(g_in=lambda g, repeats, dim: repeat_each(g, repeats, dim=dim))


repeat_each.grad(x=lambda g, x_like, repeats, dim: _sum_copies(g, x_like, repeats, dim=dim))


def _infer_meshgrid(xs: list[Spec]) -> tuple[Spec, ...]:
    for n, spec in enumerate(xs):
        if spec.ndim > 1:
            raise ShapeError(f"meshgrid: input {n} is {spec}; each has at most 1 dimension, flatten it")
    sizes = [1 if s.ndim == 0 else s.shape[0] for s in xs]
    return tuple(s.with_shape(sizes) for s in xs)


@traits.complex_gradient
@op(
    "meshgrid",
    infer=_infer_meshgrid,
    outputs=("parts",),
    output_list="parts",
    slots={"xs": "X", "parts": "Out"},
)
def meshgrid(xp, xs: list):
    """For each vector a tensor of the shape of all sizes, in which it varies along its own dimension only."""
    if any(x.ndim > 1 for x in xs):
        raise ValueError("too many dimensions")
    return [grid.copy() for grid in xp.meshgrid(*xs, indexing="ij")]


def _meshgrid_grad(g_parts: Any, xs_like: Any) -> Any:
    made: list[Any] = []
    for n, (g, x) in enumerate(zip(g_parts, xs_like, strict=True)):
        if g is None:
            made.append(creation.fill_like(x, value=0.0))
            continue
        others = [a for a in range(len(g_parts)) if a != n]
        made.append(shape.reshape_to(reduce.sum(g, axis=others) if others else g, x))
    return made


meshgrid.grad(xs=_meshgrid_grad)
