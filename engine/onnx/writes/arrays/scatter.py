"""Rows of scatter and gather by positions in several dimensions, by rows and by a mask."""

from __future__ import annotations

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import int64, joined, shape_of, sizes


@writes("gather_nd")
def _(g: Graph, x: Value, index: Value) -> Value:
    if index.shape[-1] == 0:
        return g.Expand(x, joined(g, [*sizes(g, index)[:-1], *sizes(g, x)]))
    return g.GatherND(x, int64(g, index))


@writes("scatter_nd_add")
def _(g: Graph, x: Value, index: Value, updates: Value) -> Value:
    if index.shape[-1] == 0:
        each = g.Reshape(updates, joined(g, [-1, *sizes(g, x)]))
        return g.Add(x, g.ReduceSum(each, [0], keepdims=0))
    return g.ScatterND(x, int64(g, index), updates, reduction="add")


@writes("scatter")
def _(g: Graph, x: Value, index: Value, updates: Value, *, overwrite: bool) -> Value:
    places = g.Unsqueeze(int64(g, index), [index.ndim])
    if overwrite:
        return g.ScatterND(x, places, updates)
    zeros = g.Expand(g.like(0, x), shape_of(g, updates))
    return g.ScatterND(g.ScatterND(x, places, zeros), places, updates, reduction="add")


@writes("index_select")
def _(g: Graph, x: Value, index: Value, *, dim: int) -> Value:
    return g.Gather(x, index, axis=dim)


@writes("index_add")
def _(g: Graph, x: Value, index: Value, value: Value, *, axis: int) -> Value:
    at = axis % x.ndim
    order = [at, *(n for n in range(x.ndim) if n != at)]
    places = g.Unsqueeze(int64(g, index), [1])
    made = g.ScatterND(g.transposed(x, order), places, g.transposed(value, order), reduction="add")
    return g.transposed(made, [order.index(n) for n in range(x.ndim)])


@writes("index_sample")
def _(g: Graph, x: Value, index: Value) -> Value:
    return g.GatherElements(x, int64(g, index), axis=1)


@writes("masked_select")
def _(g: Graph, x: Value, mask: Value) -> Value:
    if x.shape != mask.shape or -1 in x.shape:
        x, mask = g.Expand(x, shape_of(g, mask)), g.Expand(mask, shape_of(g, x))
    return g.Compress(g.Reshape(x, [-1]), g.Reshape(mask, [-1]))
