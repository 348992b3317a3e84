"""Rows of masks from lengths and from sparse layouts."""

from __future__ import annotations

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import (
    Size,
    computed,
    filled,
    int64,
    joined,
    number,
    numbers_below,
    reshaped,
    sizes,
    total,
    vector,
)


@writes("sequence_mask", ignoring="out_dtype")
def _(g: Graph, x: Value, most: Value | None, *, maxlen: int) -> Value:
    lengths = int64(g, x)
    count: Size = maxlen
    if most is not None:
        count = number(g, most)
    elif maxlen < 0:
        count = g.ReduceMax(g.Concat(g.Reshape(lengths, [-1]), [0], axis=0), axes=[0], keepdims=1)
    inside = g.Less(numbers_below(g, count), g.Unsqueeze(lengths, [x.ndim]))
    return g.cast(inside, g.result().dtype.name)


@writes("csr_mask")
def _(g: Graph, offset: Value, columns: Value, like: Value) -> Value:
    """Elements behind the last of a row are marked in one more place, which is cut off."""
    batch, heads, rows, width = sizes(g, like)
    starts, places = int64(g, offset), int64(g, columns)
    (elements,) = sizes(g, columns, 2)
    each = numbers_below(g, elements)
    ends = g.Slice(starts, [1], [np.iinfo(np.int64).max], [2])
    before = g.LessOrEqual(g.Unsqueeze(ends, [3]), each)  # [batch, heads, rows, elements]
    row = g.ReduceSum(g.cast(before, "int64"), [2], keepdims=0)
    area = vector(g, computed(g, "Mul", rows, width))
    used = g.Less(row, vector(g, rows))
    place = g.Where(used, g.Add(g.Mul(row, vector(g, width)), places), area)
    nothing = filled(g, 0, [batch, heads, computed(g, "Add", total(g, [rows, width]), 1)], "int32")
    ones = g.Expand(np.int32(1), joined(g, [batch, heads, elements]))
    marked = g.ScatterElements(nothing, place, ones, axis=2)
    cut = g.Slice(marked, [0], area, [2])
    return g.cast(reshaped(g, cut, [batch, heads, rows, width]), "bool")
