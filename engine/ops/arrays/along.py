"""Picking elements along an axis: the largest, and those at given positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.dtype import float32, from_numpy, int64
from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.infer import normal_axis
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.arrays.index import require_within


def _infer_topk(x: Spec, *, k: int, axis: int = -1, **_: Any) -> tuple[Spec, Spec]:
    axis = normal_axis("topk", axis, x.ndim)
    size = x.shape[axis] if x.ndim else 1
    if k < 1 or 0 <= size < k:
        raise ArgumentError(f"topk: k is {k}: axis {axis} of {x} has {size} elements; use 1 to {size}")
    made = x if x.ndim == 0 else x.with_shape((*x.shape[:axis], k, *x.shape[axis + 1 :]))
    return made, made.with_dtype(int64)


@op("top_k_v2", infer=_infer_topk, outputs=("out", "indices"))
def topk(xp, x, *, k=1, axis=-1, largest=True, sorted=True):
    """The k largest (or smallest) elements along an axis, and where they are; ties by position."""
    _infer_topk(Spec(x.shape, from_numpy(x.dtype)), k=k, axis=axis)
    if x.ndim == 0:
        return x.copy(), xp.zeros((), np.int64)
    if k == 1 and largest:
        best = xp.argmax(x, axis=axis, keepdims=True)
        return xp.take_along_axis(x, best, axis=axis), best.astype(np.int64)
    taken = xp.take(sorting_order(xp, x, axis, descending=largest), xp.arange(k), axis=axis)
    return xp.take_along_axis(x, taken, axis=axis), taken.astype(np.int64)


def sorting_order(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    """Where the elements along an axis are in sorted order: equal ones as they stood, NaN the largest."""
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable")
    backwards = xp.argsort(xp.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - xp.flip(backwards, axis)


def places_along(xp: Any, indices: Any, shape: Any, axis: int) -> tuple[Any, ...]:
    """What picks, from an array, the elements at ``indices`` (broadcast to ``shape``) along an axis."""
    where = list(xp.ogrid[tuple(slice(d) for d in shape)])
    where[axis] = xp.broadcast_to(indices, shape)
    return tuple(where)


@op("put_along_axis_zeros", infer=lambda g_in, like, indices, **_: like.with_dtype(g_in.dtype))
def put_along_zeros(xp, g_in, like, indices, *, axis=-1, broadcast=False):
    """Zeros like ``like`` with g_in added at the indices along an axis."""
    if like.ndim == 0:
        return g_in.copy()
    result = xp.zeros(like.shape, g_in.dtype)
    xp.add.at(result, places_along(xp, indices, g_in.shape, axis), g_in)
    return result


def along_shape(where: str, x: Spec, indices: Spec, axis: int, broadcast: bool) -> tuple[int, ...]:
    """The shape of what is taken or put along an axis; raises where indices don't fit x."""
    if not indices.dtype.is_integer:
        raise DTypeError(f"{where}: indices must be int32 or int64: got {indices}; cast them")
    if indices.ndim != x.ndim:
        raise ShapeError(f"{where}: indices are {indices}: x is {x}; both need the same number of dimensions")
    axis = normal_axis(where, axis, x.ndim)
    made = list(indices.shape)
    for n, (have, want) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if n == axis or (have == -1 and not broadcast):
            continue
        if broadcast and have in (1, -1):
            made[n] = want
        elif want >= 0 and (have > want or (broadcast and have != want)):
            raise ShapeError(
                f"{where}: indices are {indices}: x is {x}; outside axis {axis} each of their sizes is "
                + ("1 or that of x" if broadcast else "at most that of x")
            )
    return tuple(made)


def _infer_take(x: Spec, indices: Spec, *, axis: int = -1, broadcast: bool = False) -> Spec:
    return x.with_shape(along_shape("take_along_axis", x, indices, axis, broadcast))


@op("take_along_axis", infer=_infer_take, slots={"x": "Input", "indices": "Index"})
def take_along(xp, x, indices, *, axis=-1, broadcast=False):
    """Elements at the indices along an axis; raises OutOfRangeError where there is none."""
    if x.ndim == 0:
        return x.copy()
    spec = _infer_take(
        Spec(x.shape, float32), Spec(indices.shape, from_numpy(indices.dtype)), axis=axis, broadcast=broadcast
    )
    require_within("take_along_axis", indices, x.shape[axis], axis)
    return x[places_along(xp, indices, spec.shape, axis)]


put_along_zeros.grad(
    g_in=lambda g, indices, axis, broadcast: take_along(g, indices, axis=axis, broadcast=broadcast)
)
take_along.grad(
    x=lambda g, x_like, indices, axis, broadcast: put_along_zeros(
        g, x_like, indices, axis=axis, broadcast=broadcast
    )
)
topk.grad(x=lambda g, x_like, indices, axis: put_along_zeros(g, x_like, indices, axis=axis))
