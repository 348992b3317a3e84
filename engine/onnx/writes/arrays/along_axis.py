"""Rows of elements picked along an axis, and put back there."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value, numpy_dtype
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import Size, int64, joined, numbers_below, shape_of, size, sizes, typed


def _broadcast(g: Graph, x: Value, indices: Value, axis: int, broadcast: bool) -> Value:
    """The indices with the sizes of x outside of the axis, if they are to be broadcast."""
    made = int64(g, indices)
    outside = [n for n in range(x.ndim) if n != axis]
    if not broadcast or all(x.shape[n] == indices.shape[n] >= 0 for n in outside):
        return made
    wanted: list[Size] = [1 if n == axis else d for n, d in enumerate(sizes(g, x))]
    shape = [indices.shape[n] if n == axis else x.shape[n] for n in range(x.ndim)]
    return typed(g.Expand(made, joined(g, wanted)), shape, "int64")


@writes("take_along_axis")
def _(g: Graph, x: Value, indices: Value, *, axis: int, broadcast: bool) -> Value:
    if x.ndim == 0:
        return g.Identity(x)
    axis %= x.ndim
    return g.GatherElements(x, _broadcast(g, x, indices, axis, broadcast), axis=axis)


_KINDS = {"assign": None, "add": "add", "mul": "mul"}


@writes("put_along_axis")
def _(
    g: Graph,
    x: Value,
    indices: Value,
    values: Value,
    *,
    axis: int,
    reduce: str,
    include_self: bool,
    broadcast: bool,
) -> Value:
    axis %= x.ndim
    places = _broadcast(g, x, indices, axis, broadcast)
    if values.shape != places.shape or -1 in places.shape:
        values = typed(g.Expand(values, shape_of(g, places)), places.shape, values.dtype)
    if reduce not in _KINDS:
        return _extreme(g, x, places, values, axis, reduce == "amax", include_self)
    target = x
    if reduce != "assign" and not include_self:
        neutral = g.Expand(g.like(0 if reduce == "add" else 1, x), shape_of(g, places))
        target = g.ScatterElements(x, places, neutral, axis=axis)
    return g.ScatterElements(target, places, values, axis=axis, reduction=_KINDS[reduce])


def _extreme(
    g: Graph, x: Value, places: Value, values: Value, axis: int, largest: bool, include_self: bool
) -> Value:
    """ScatterElements has no maximum in opset 17: each position of the axis is compared with each index."""
    length = size(g, x, axis)
    numbers = numbers_below(g, length)
    column: list[Size] = [1] * (x.ndim + 1)
    column[axis] = -1
    numbers = g.Reshape(numbers, joined(g, column))
    hits = g.Equal(g.Unsqueeze(places, [axis]), numbers)  # the positions at axis, the indices behind it
    kind = numpy_dtype(x.dtype)
    low: Any = -np.inf if kind.kind == "f" else np.iinfo(kind).min
    high: Any = np.inf if kind.kind == "f" else np.iinfo(kind).max
    spread = g.Where(hits, g.Unsqueeze(values, [axis]), g.like(low if largest else high, x))
    reduced = (g.ReduceMax if largest else g.ReduceMin)(spread, axes=[axis + 1], keepdims=0)
    hit = g.cast(g.ReduceMax(g.cast(hits, "int32"), axes=[axis + 1], keepdims=0), "bool")
    region: list[Size] = [size(g, x if n == axis else places, n) for n in range(x.ndim)]
    before = g.Slice(x, [0] * x.ndim, joined(g, region))
    combined = (g.Max if largest else g.Min)(reduced, before) if include_self else reduced
    every = g.Expand(g.Reshape(numbers_below(g, length), joined(g, column[: axis + 1] + column[axis + 2 :])),
                     joined(g, region))  # fmt: skip
    return g.ScatterElements(x, every, g.Where(hit, combined, before), axis=axis)
