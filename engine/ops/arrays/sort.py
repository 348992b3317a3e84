"""Sorting, searching and uniqueness. Where a result's size depends on values, it is -1 before running."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Count, Size
from engine.core.operators.infer import normal_axis
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.dtype import as_dtype, int32, int64
from engine.core.values.spec import Spec
from engine.ops.arrays import along_axis, shape
from engine.ops.arrays.along_axis import put_along_zeros


def _infer_topk(x: Spec, *, k: int, axis: int = -1, **_: Any) -> tuple[Spec, Spec]:
    axis = normal_axis("topk", axis, x.ndim)
    size = x.shape[axis] if x.ndim else 1
    if k < 1 or 0 <= size < k:
        raise ArgumentError(f"topk: k is {k}: axis {axis} of {x} has {size} elements; use 1 to {size}")
    made = x if x.ndim == 0 else x.with_shape((*x.shape[:axis], k, *x.shape[axis + 1 :]))
    return made, made.with_dtype(int64)


@op("top_k_v2", infer=_infer_topk, outputs=("out", "indices"))
def topk(xp, x, *, k: Size = 1, axis=-1, largest=True, sorted=True):
    """The k largest (or smallest) elements along an axis and their positions; ties by position."""
    _infer_topk(Spec.of(x), k=k, axis=axis)
    if x.ndim == 0:
        return x.copy(), xp.zeros((), np.int64)
    if k == 1 and largest:
        best = xp.argmax(x, axis=axis, keepdims=True)
        return along_axis.one_each(xp, x, best, axis), best.astype(np.int64, copy=False)
    taken = xp.take(sorting_order(xp, x, axis, descending=largest), xp.arange(k), axis=axis)
    return xp.take_along_axis(x, taken, axis=axis), taken.astype(np.int64)


def sorting_order(xp: ArrayModule, x: Array, axis: int, descending: bool) -> Any:
    """The positions that sort the elements along an axis: stable, with NaN as the largest."""
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable")
    backwards = xp.argsort(xp.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - xp.flip(backwards, axis)


topk.grad(x=lambda g, x_like, indices, axis: along_axis.put_along_zeros(g, x_like, indices, axis=axis))


def _infer_argsort(x: Spec, *, axis: int = -1, **_: Any) -> tuple[Spec, Spec]:
    normal_axis("argsort", axis, x.ndim)
    return x, x.with_dtype(int64)


@op("argsort", infer=_infer_argsort, outputs=("out", "indices"))
def argsort(xp, x, *, axis=-1, descending=False):
    """The sorted elements along an axis and their positions: stable, with NaN as the largest."""
    if x.ndim == 0:
        normal_axis("argsort", axis, 0)
        return x.copy(), xp.zeros((), np.int64)
    order = sorting_order(xp, x, axis, descending)
    return xp.take_along_axis(x, order, axis=axis), order.astype(np.int64)


argsort.grad(x=lambda g, x_like, indices, axis: put_along_zeros(g, x_like, indices, axis=axis))


def _picked(where: str, x: Spec, axis: int, keepdim: bool) -> tuple[Spec, Spec]:
    axis = normal_axis(where, axis, x.ndim)
    rest = [1 if n == axis else d for n, d in enumerate(x.shape) if keepdim or n != axis]
    made = x.with_shape(rest)
    return made, made.with_dtype(int64)


def _infer_kth(x: Spec, *, k: int, axis: int = -1, keepdim: bool = False) -> tuple[Spec, Spec]:
    size = x.shape[normal_axis("kthvalue", axis, x.ndim)] if x.ndim else 1
    if k < 1 or 0 <= size < k:
        raise ArgumentError(f"kthvalue: k is {k}: axis {axis} of {x} has {size} elements; use 1 to {size}")
    return _picked("kthvalue", x, axis, keepdim)


@op("kthvalue", infer=_infer_kth, outputs=("out", "indices"))
def kthvalue(xp, x, *, k: Size, axis=-1, keepdim=False):
    """The k-th smallest element along an axis, and its position."""
    _infer_kth(Spec.of(x), k=k, axis=axis, keepdim=keepdim)
    if x.ndim == 0:
        return x.copy(), xp.zeros((), np.int64)
    order = xp.take(sorting_order(xp, x, axis, descending=False), xp.asarray([k - 1]), axis=axis)
    return _both(xp, x, order, axis, keepdim)


def _both(xp: Any, x: Any, where: Any, axis: int, keepdim: bool) -> tuple[Any, Any]:
    out, where = xp.take_along_axis(x, where, axis=axis), where.astype(np.int64)
    return (out, where) if keepdim else (out.squeeze(axis), where.squeeze(axis))


def _picked_grad(g: Any, x_like: Any, indices: Any, axis: int, keepdim: bool) -> Any:
    if not keepdim and len(x_like.shape):
        g, indices = (shape.unsqueeze(v, axes=[axis % len(x_like.shape)]) for v in (g, indices))
    return put_along_zeros(g, x_like, indices, axis=axis)


kthvalue.grad(x=_picked_grad)


def _infer_mode(x: Spec, *, axis: int = -1, keepdim: bool = False) -> tuple[Spec, Spec]:
    return _picked("mode", x, axis, keepdim)


@op("mode", infer=_infer_mode, outputs=("out", "indices"))
def mode(xp, x, *, axis=-1, keepdim=False):
    """The most frequent element along an axis (the smallest of several), and its last position."""
    if x.ndim == 0:
        normal_axis("mode", axis, 0)
        return x.copy(), xp.zeros((), np.int64)
    lines = xp.moveaxis(x, axis, -1)
    size = lines.shape[-1]
    if size == 0:
        raise ArgumentError(f"mode: axis {axis} of shape {list(x.shape)} is empty; there is no element")
    ordered = xp.sort(lines, axis=-1)
    begins = xp.ones(ordered.shape, bool)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    places = xp.arange(size)
    run = places - _running_max(xp, xp.where(begins, places, 0))
    value = xp.take_along_axis(ordered, run.argmax(axis=-1)[..., None], axis=-1)
    equal = (lines == value) | ((lines != lines) & (value != value))
    last = size - 1 - xp.flip(equal, -1).argmax(axis=-1)[..., None]
    return _both(xp, x, xp.moveaxis(last, -1, axis), axis, keepdim)


def _running_max(xp: Any, x: Any) -> Any:
    """The running maximum along the last axis, by doubling steps: ufuncs of CuPy have no accumulate."""
    step = 1
    while step < x.shape[-1]:
        x = xp.concatenate([x[..., :step], xp.maximum(x[..., step:], x[..., :-step])], axis=-1)
        step *= 2
    return x


mode.grad(x=_picked_grad)


# -- uniqueness --------------------------------------------------------------------------------------------


def _infer_unique(
    x: Spec,
    *,
    axis: Any = (),
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    dtype: str = "int64",
) -> tuple[Any, ...]:
    numbers = Spec((-1,), dtype)
    if axis:
        at = normal_axis("unique", axis[0], x.ndim)
        made, inverse = x.with_shape((*x.shape[:at], -1, *x.shape[at + 1 :])), Spec((x.shape[at],), dtype)
    else:
        made, inverse = x.with_shape((-1,)), Spec((x.size,), dtype)
    return (
        made,
        numbers if return_index else None,
        inverse if return_inverse else None,
        numbers if return_counts else None,
    )


@op(
    "unique", infer=_infer_unique, outputs=("out", "indices", "inverse", "counts"), slots={"inverse": "Index"}
)
def unique(
    xp, x, *, axis: Count = (), return_index=False, return_inverse=False, return_counts=False, dtype="int64"
):
    """The sorted unique elements (or slices), with first positions, inverse indices and counts."""
    values, index, inverse, counts = xp.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis[0] if axis else None
    )
    kind = as_dtype(dtype).np
    return (
        values,
        index.astype(kind) if return_index else None,
        inverse.reshape(-1).astype(kind) if return_inverse else None,
        counts.astype(kind) if return_counts else None,
    )


def _infer_consecutive(
    x: Spec,
    *,
    axis: Any = (),
    return_inverse: bool = False,
    return_counts: bool = False,
    dtype: str = "int64",
) -> tuple[Any, ...]:
    out, _, inverse, counts = _infer_unique(
        x, axis=axis, return_inverse=return_inverse, return_counts=return_counts, dtype=dtype
    )
    return out, inverse, counts


@op(
    "unique_consecutive",
    infer=_infer_consecutive,
    outputs=("out", "inverse", "counts"),
    slots={"inverse": "Index"},
)
def unique_consecutive(xp, x, *, axis: Count = (), return_inverse=False, return_counts=False, dtype="int64"):
    """Each run of equal elements (or slices) once, with inverse indices and counts."""
    lines = xp.moveaxis(x, axis[0], 0) if axis else x.reshape(-1)
    size = lines.shape[0]
    begins = xp.ones((size,), bool)
    begins[1:] = (lines[1:] != lines[:-1]).any(axis=tuple(range(1, lines.ndim)))
    starts = xp.nonzero(begins)[0]
    kind = as_dtype(dtype).np
    out = lines[starts]
    return (
        xp.ascontiguousarray(xp.moveaxis(out, 0, axis[0])) if axis else out,
        (xp.cumsum(begins) - 1).astype(kind) if return_inverse else None,
        xp.diff(xp.concatenate([starts, xp.asarray([size])])).astype(kind) if return_counts else None,
    )


# -- searching ---------------------------------------------------------------------------------------------


@op("where_index", infer=lambda x: Spec((-1, x.ndim), int64), slots={"x": "Condition"})
def nonzero(xp, x):
    """The positions of the elements that are not 0, one row each."""
    if x.ndim == 0:
        return xp.zeros((int(bool(x)), 0), np.int64)
    return xp.stack(xp.nonzero(x), axis=1).astype(np.int64)


def _infer_search(ordered: Spec, values: Spec, *, out_int32: bool = False, right: bool = False) -> Spec:
    rows = ordered.shape[:-1]
    if ordered.ndim < 1 or (
        ordered.ndim > 1
        and (
            values.ndim != ordered.ndim
            or any(a != b and -1 not in (a, b) for a, b in zip(rows, values.shape[:-1], strict=True))
        )
    ):
        raise ShapeError(
            f"searchsorted: sorted_sequence is {ordered}, values {values}; the sequence has 1 dimension, or "
            "both are equal in all but the last"
        )
    return values.with_dtype(int32 if out_int32 else int64)


@op("searchsorted", infer=_infer_search, slots={"ordered": "SortedSequence", "values": "Values"})
def searchsorted(xp, ordered, values, *, out_int32=False, right=False):
    """Insertion positions of values in the sorted last dimension, before or (``right``) after equal ones."""
    _infer_search(*(Spec.of(a) for a in (ordered, values)))
    side = "right" if right else "left"
    kind = np.int32 if out_int32 else np.int64
    if ordered.ndim == 1:
        return xp.asarray(xp.searchsorted(ordered, values, side=side)).astype(kind)
    rows = ordered.reshape((-1, ordered.shape[-1]))
    wanted = values.reshape((-1, values.shape[-1]))
    result = xp.empty(wanted.shape, kind)
    for n in range(len(rows)):
        result[n] = xp.searchsorted(rows[n], wanted[n], side=side)
    return result.reshape(values.shape)
