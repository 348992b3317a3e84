"""Rows of tensor arrays."""

from __future__ import annotations

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import LAST, joined, number, size, sizes, vector


def _fitting(g: Graph, array: Value, x: Value) -> Value:
    """The array with the shape of x behind its first dimension: an empty one may have any other."""
    if array.shape[1:] == x.shape and -1 not in x.shape:
        return array
    return g.Reshape(array, joined(g, [size(g, array, 0), *sizes(g, x)]), allowzero=1)


@writes("array_append")
def _(g: Graph, array: Value, x: Value) -> Value:
    one = g.Unsqueeze(x, [0])
    return one if array.shape[0] == 0 else g.Concat(_fitting(g, array, x), one, axis=0)


@writes("write_to_array")
def _(g: Graph, array: Value, x: Value, i: Value) -> Value:
    """The position may be one past the end: then nothing is behind it."""
    one = g.Unsqueeze(x, [0])
    if array.shape[0] == 0:
        return one
    whole, at = _fitting(g, array, x), vector(g, number(g, i))
    after = g.Add(at, g.constant([1]))
    return g.Concat(g.Slice(whole, [0], at, [0]), one, g.Slice(whole, after, [LAST], [0]), axis=0)
