"""Rows of ``engine.ops.graphs``."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import Size, filled, flat, int64, numbers_below, size, sizes, vector


@writes("segment_pool", ignoring="rising")
def _(g: Graph, x: Value, segment_ids: Value, like: Value | None, *, pooltype: str, size: int) -> Value:
    ids = int64(g, segment_ids)
    rows: Size
    if size > 0:
        rows = size
    elif like is not None:
        rows = sizes(g, like, 0, 1)[0]
    else:
        rows = g.Add(g.ReduceMax(g.Concat(ids, [-1], axis=0), axes=[0], keepdims=1), [1])
    return (_extremes if pooltype in ("MIN", "MAX") else _sums)(g, x, ids, rows, pooltype)


def _sums(g: Graph, x: Value, ids: Value, rows: Size, pooltype: str) -> Value:
    nothing = filled(g, 0, [rows, *sizes(g, x, 1)], x.dtype)
    places = g.Unsqueeze(ids, [1])
    made = g.ScatterND(nothing, places, x, reduction="add")
    if pooltype == "SUM":
        return made
    ones = filled(g, 1, sizes(g, x, 0, 1), "int64")
    counts = g.ScatterND(filled(g, 0, [rows], "int64"), places, ones, reduction="add")
    counts = g.Reshape(g.Max(counts, 1), [-1, *[1] * (x.ndim - 1)])
    return g.Div(made, g.cast(counts, x.dtype))


def _extremes(g: Graph, x: Value, ids: Value, rows: Size, pooltype: str) -> Value:
    """Every row of the result looks at all rows: ONNX has this scatter from opset 18 only."""
    ours = g.Equal(g.Unsqueeze(numbers_below(g, rows), [1]), ids)  # [rows, rows of x]
    mask = g.Reshape(ours, [0, 0, *[1] * (x.ndim - 1)])
    kind = np.dtype(x.dtype)
    least: Any = -np.inf if kind.kind == "f" else np.iinfo(kind).min
    most: Any = np.inf if kind.kind == "f" else np.iinfo(kind).max
    filling = g.like(least if pooltype == "MAX" else most, x)
    # One row more, so that there is one where x has none.
    more = g.Concat(
        g.Where(mask, g.Unsqueeze(x, [0]), filling),
        filled(g, filling, [rows, 1, *sizes(g, x, 1)], x.dtype),
        axis=1,
    )
    found = (g.ReduceMax if pooltype == "MAX" else g.ReduceMin)(more, axes=[1], keepdims=0)
    some = g.Greater(g.ReduceSum(g.cast(ours, "int32"), [1], keepdims=0), np.int32(0))
    return g.Where(g.Reshape(some, [-1, *[1] * (x.ndim - 1)]), found, g.like(0, x))


@writes("graph_reindex")
def _(g: Graph, x: Value, neighbors: Value, count: Value) -> tuple[Value, Value, Value]:
    """Numbers in the order in which they first appear."""
    x, neighbors, count = (flat(g, each) for each in (x, neighbors, count))
    nodes, _, places = g.node("Unique", g.Concat(x, neighbors, axis=0), outputs=3, axis=0, sorted=0)
    last = np.iinfo(np.int64).max
    begin = vector(g, size(g, x, 0))
    source = g.Slice(places, begin, [last], [0])
    ends = g.CumSum(int64(g, count), np.int64(0))
    before = g.LessOrEqual(g.Unsqueeze(ends, [1]), numbers_below(g, size(g, neighbors, 0)))
    target = g.Mod(g.ReduceSum(g.cast(before, "int64"), [0], keepdims=0), g.Max(begin, 1))
    dtypes = [g.result(n).dtype.name for n in range(2)]
    source, target = (
        made if dtype == "int64" else g.cast(made, dtype)
        for made, dtype in zip((source, target), dtypes, strict=True)
    )
    return source, target, nodes
