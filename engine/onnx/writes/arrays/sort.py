"""Rows of sorting, searching and uniqueness."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import LAST, size, typed, vector

_WIDER = {"int8": "int32", "int16": "int32", "uint8": "int32", "bool": "int32"}


def sortable(g: Graph, x: Value) -> Value:
    """x in a dtype that ONNX Runtime sorts."""
    wider = _WIDER.get(x.dtype)
    return x if wider is None else typed(g.cast(x, wider), x.shape, wider)


def _back(g: Graph, made: Value, x: Value) -> Value:
    return g.cast(made, x.dtype) if x.dtype in _WIDER else made


def sorted_along(g: Graph, x: Value, count: Value, axis: int, largest: bool) -> tuple[Value, Value]:
    """The first ``count`` elements in order, and their positions; equal ones by position."""
    values, places = g.node(
        "TopK", sortable(g, x), count, outputs=2, axis=axis, largest=int(largest), sorted=1
    )
    return _back(g, values, x), places


def _alone(g: Graph, x: Value) -> tuple[Value, Value]:
    return g.Identity(x), g.Identity(np.int64(0))


@writes("top_k_v2", ignoring="sorted")
def _(g: Graph, x: Value, *, k: int, axis: int, largest: bool) -> tuple[Value, Value]:
    if x.ndim == 0:
        return _alone(g, x)
    return sorted_along(g, x, g.constant([k]), axis, largest)


@writes("argsort")
def _(g: Graph, x: Value, *, axis: int, descending: bool) -> tuple[Value, Value]:
    if x.ndim == 0:
        return _alone(g, x)
    return sorted_along(g, x, vector(g, size(g, x, axis)), axis, descending)


@writes("kthvalue")
def _(g: Graph, x: Value, *, k: int, axis: int, keepdim: bool) -> tuple[Value, ...]:
    if x.ndim == 0:
        return _alone(g, x)
    both = sorted_along(g, x, g.constant([k]), axis, largest=False)
    place = np.asarray([k - 1] if keepdim else k - 1, np.int64)
    return tuple(g.Gather(part, place, axis=axis) for part in both)


@writes("mode")
def _(g: Graph, x: Value, *, axis: int, keepdim: bool) -> tuple[Value, Value]:
    """Each element is compared with each other one of its line."""
    if x.ndim == 0:
        return _alone(g, x)
    at, line = axis % x.ndim, sortable(g, x)
    alike = g.Equal(g.Unsqueeze(line, [at]), g.Unsqueeze(line, [at + 1]))
    counts = g.ReduceSum(g.cast(alike, "int64"), [at], keepdims=0)
    most = g.Equal(counts, g.ReduceMax(counts, axes=[at]))
    highest = np.inf if "float" in line.dtype else np.iinfo(line.dtype).max
    value = g.ReduceMin(g.Where(most, line, g.like(highest, line)), axes=[at])
    place = g.ArgMax(
        g.cast(g.Equal(line, value), "int32"), axis=at, keepdims=int(keepdim), select_last_index=1
    )
    value = _back(g, value, x)
    return (value if keepdim else g.Squeeze(value, [at])), place


# -- uniqueness --------------------------------------------------------------------------------------------


@writes("unique")
def _(
    g: Graph,
    x: Value,
    *,
    axis: Any,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    dtype: str,
) -> tuple[Value | None, ...]:
    made = "int64" if x.dtype not in ("float32", "float64", "int64") else x.dtype
    line = x if made == x.dtype else g.cast(x, made)
    values, *others = g.node("Unique", line, outputs=4, sorted=1, axis=axis[0] % x.ndim if axis else None)
    wanted = return_index, return_inverse, return_counts
    numbers = [_as(g, v, dtype) if w else None for v, w in zip(others, wanted, strict=True)]
    return (values if made == x.dtype else g.cast(values, x.dtype)), *numbers


def _as(g: Graph, x: Value, dtype: str) -> Value:
    return x if dtype == "int64" else g.cast(x, dtype)


@writes("unique_consecutive")
def _(
    g: Graph, x: Value, *, axis: Any, return_inverse: bool, return_counts: bool, dtype: str
) -> tuple[Value | None, ...]:
    at = axis[0] % x.ndim if axis else 0
    line = sortable(g, x)
    line = line if axis else typed(g.Reshape(line, [-1]), [-1], line.dtype)
    later, earlier = g.Slice(line, [1], [LAST], [at]), g.Slice(line, [0], [-1], [at])
    changed = g.cast(g.Not(g.Equal(later, earlier)), "int64")
    others = [n for n in range(line.ndim) if n != at]
    if others:
        changed = g.ReduceMax(changed, axes=others, keepdims=0)
    count = g.Shape(line, start=at, end=at + 1)
    begins = g.Slice(g.Concat(g.constant([1]), changed, axis=0), [0], count)  # none of nothing
    values = _back(g, g.Compress(line, g.cast(begins, "bool"), axis=at), x)
    inverse = g.Sub(g.CumSum(begins, np.int64(0)), np.int64(1)) if return_inverse else None
    counts = None
    if return_counts:
        starts = g.Reshape(g.NonZero(begins), [-1])
        counts = g.Sub(g.Slice(g.Concat(starts, count, axis=0), [1], [LAST]), starts)
    return values, *(None if v is None else _as(g, v, dtype) for v in (inverse, counts))


# -- searching ---------------------------------------------------------------------------------------------


@writes("where_index")
def _(g: Graph, x: Value) -> Value:
    flags = x if x.dtype in ("bool", "float32", "int32", "int64") else g.cast(x, "bool")
    if x.ndim:
        return g.Transpose(g.NonZero(flags), perm=[1, 0])
    found = g.NonZero(g.Reshape(flags, [1]))
    return g.Slice(g.Transpose(found, perm=[1, 0]), [0], [0], [1])


@writes("searchsorted")
def _(g: Graph, ordered: Value, values: Value, *, out_int32: bool, right: bool) -> Value:
    """The number of elements below each value, or not above it."""
    kind = np.result_type(ordered.dtype, values.dtype).name
    kind = _WIDER.get(kind, kind)
    line, wanted = (v if v.dtype == kind else g.cast(v, kind) for v in (ordered, values))
    if ordered.ndim > 1:
        line = g.Unsqueeze(line, [ordered.ndim - 1])
    column = g.Unsqueeze(wanted, [values.ndim])
    before = (g.LessOrEqual if right else g.Less)(line, column)
    return g.cast(
        g.ReduceSum(g.cast(before, "int64"), [values.ndim], keepdims=0), "int32" if out_int32 else "int64"
    )
