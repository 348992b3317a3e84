"""Rows of repetition along an axis, and of grids of coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import Size, int64, joined, numbers_below, reshaped, size, sizes, vector


@writes("repeat_interleave")
def _(g: Graph, x: Value, *, repeats: int, axis: int) -> Value:
    at = axis % max(x.ndim, 1)
    times = [repeats if n == at + 1 else 1 for n in range(x.ndim + 1)]
    made = g.Expand(g.Unsqueeze(x, [at + 1]), times)
    known = g.result().shape
    parts = sizes(g, x)
    parts[at] = known[at] if known[at] >= 0 else -1
    return reshaped(g, made, parts)


def copies(g: Graph, repeats: Value) -> Value:
    """The number of each element as often as ``repeats`` says: a vector of int64 for one."""
    ends = g.CumSum(repeats, np.int64(0))
    total = g.ReduceSum(repeats, [0], keepdims=1)
    places = g.Unsqueeze(numbers_below(g, total), [1])
    return g.ReduceSum(g.cast(g.LessOrEqual(ends, places), "int64"), [1], keepdims=0)


@writes("repeat_interleave_with_tensor_index")
def _(g: Graph, x: Value, repeats: Value, *, dim: int) -> Value:
    if x.shape[dim] == 0:
        return g.Identity(x)
    times = int64(g, repeats)
    if repeats.ndim == 0 or repeats.shape[0] != x.shape[dim] or x.shape[dim] < 0:
        times = g.Expand(g.Reshape(times, [-1]), vector(g, size(g, x, dim)))
    return g.Gather(x, copies(g, times), axis=dim % x.ndim)


@writes("meshgrid")
def _(g: Graph, xs: Sequence[Value]) -> list[Value]:
    shape: list[Size] = [1 if x.ndim == 0 else size(g, x, 0) for x in xs]
    made = []
    for n, x in enumerate(xs):
        line = g.Reshape(x, [-1 if k == n else 1 for k in range(len(xs))])
        made.append(g.Expand(line, joined(g, shape)))
    return made
