"""Rows of shapes: reshape, transpose, joining and splitting, expanding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import same, writes
from engine.onnx.writes.sizes import Size, reshaped, shape_of, sizes, typed

same("assign", "Identity")
same("share_data", "Identity")


@writes("memcpy", ignoring="source target")
def _(g: Graph, x: Value) -> Value:
    return g.Identity(x)


@writes("reshape2")
def _(g: Graph, x: Value, *, shape: Any) -> Value:
    known = g.result().shape
    if -1 not in known:
        return reshaped(g, x, known)
    return g.Reshape(x, list(shape))


@writes("reshape_as")
def _(g: Graph, x: Value, y: Value) -> Value:
    return g.Reshape(x, shape_of(g, y), allowzero=1)


@writes("flatten_contiguous_range")
def _(g: Graph, x: Value, *, start_axis: int, stop_axis: int) -> Value:
    if x.ndim == 0:
        return g.Reshape(x, [1])
    first, last = start_axis % x.ndim, stop_axis % x.ndim
    if (first, last) == (1, x.ndim - 1):
        return g.Flatten(x, axis=1)
    if -1 not in g.result().shape:
        return reshaped(g, x, g.result().shape)
    parts = sizes(g, x)
    merged: Size = math.prod(x.shape[first : last + 1])
    if -1 in x.shape[first : last + 1]:
        merged = g.ReduceProd(g.Shape(x, start=first, end=last + 1), axes=[0])
    return reshaped(g, x, [*parts[:first], merged, *parts[last + 1 :]])


@writes("transpose2")
def _(g: Graph, x: Value, *, axis: Any) -> Value:
    return g.transposed(x, [a % x.ndim for a in axis])


@writes("squeeze2")
def _(g: Graph, x: Value, *, axes: Any) -> Value:
    """Dimensions of unknown size stay, as the operator infers."""
    wanted = [a % x.ndim for a in axes] if axes and x.ndim else range(x.ndim)
    ones = [n for n, d in enumerate(x.shape) if n in wanted and d == 1]
    return g.Squeeze(x, ones) if ones else g.Identity(x)


@writes("unsqueeze2")
def _(g: Graph, x: Value, *, axes: Any) -> Value:
    order: list[int | None] = list(range(x.ndim))
    for axis in axes:
        order.insert(axis if axis >= 0 else len(order) + 1 + axis, None)
    made = [n for n, d in enumerate(order) if d is None]
    return g.Unsqueeze(x, made) if made else g.Identity(x)


@writes("concat")
def _(g: Graph, xs: Sequence[Value], *, axis: int) -> Value:
    return g.Concat(*xs, axis=axis)


@writes("stack")
def _(g: Graph, xs: Sequence[Value], *, axis: int) -> Value:
    at = axis % (xs[0].ndim + 1)
    return g.Concat(*(g.Unsqueeze(x, [at]) for x in xs), axis=at)


@writes("unstack")
def _(g: Graph, x: Value, *, axis: int, num: Any) -> list[Value]:
    at, count = axis % x.ndim, len(g.operator.outputs)
    if count < 2:
        return [g.Squeeze(x, [at])][:count]
    parts = g.node("Split", x, outputs=count, axis=at)
    return [g.Squeeze(part, [at]) for part in parts]


@writes("split")
def _(g: Graph, x: Value, *, axis: int, sections: Any) -> list[Value]:
    count = len(g.operator.outputs)
    if count == 1:
        return [g.Identity(x)]
    lengths = None if isinstance(sections, int) else [int(n) for n in sections]
    return g.node("Split", x, lengths, outputs=count, axis=axis % x.ndim)


@writes("expand_v2")
def _(g: Graph, x: Value, *, shape: Any) -> Value:
    return g.Expand(x, [1 if d == -1 else d for d in shape])


def with_ones_before(g: Graph, x: Value, ndim: int) -> Value:
    """A tensor with dimensions of one element before its own, so that there are ``ndim`` or more."""
    extra = ndim - x.ndim
    if extra <= 0:
        return x
    return typed(g.Unsqueeze(x, list(range(extra))), [*[1] * extra, *x.shape], x.dtype)


@writes("tile")
def _(g: Graph, x: Value, *, repeat_times: Any) -> Value:
    times = [1] * (x.ndim - len(repeat_times)) + list(repeat_times)
    return g.Tile(with_ones_before(g, x, len(times)), times) if times else g.Identity(x)


@writes("shape")
def _(g: Graph, x: Value) -> Value:
    return g.cast(shape_of(g, x), "int32")
