"""Rows of memory read in other strides: windows and as_strided."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import numbers_below, size


@writes("tensor_unfold")
def _(g: Graph, x: Value, *, axis: int, size: int, step: int) -> Value:
    at = axis % x.ndim
    count: Any = _count(g, x, at, size, step)
    if isinstance(count, int):  # inference of shapes takes integers that are computed for sizes
        begins: Any = step * np.arange(count)[:, None]
    else:
        begins = g.Mul(g.Unsqueeze(numbers_below(g, count), [1]), np.int64(step))
    places = g.Add(begins, np.arange(size, dtype=np.int64)[None])
    made = g.Gather(x, places, axis=at)
    return g.transposed(made, [*(n for n in range(x.ndim + 1) if n != at + 1), at + 1])


def _count(g: Graph, x: Value, axis: int, length: int, step: int) -> Any:
    """The number of windows along an axis."""
    whole = size(g, x, axis)
    if isinstance(whole, int):
        return (whole - length) // step + 1
    return g.Add(g.Div(g.Sub(whole, np.int64(length)), np.int64(step)), np.int64(1))


@writes("as_strided")
def _(g: Graph, x: Value, *, shape: Any, stride: Any, offset: int) -> Value:
    places: Any = g.constant(np.asarray(offset, np.int64))
    for n, (length, step) in enumerate(zip(shape, stride, strict=True)):
        line = step * np.arange(length, dtype=np.int64)
        places = g.Add(places, line.reshape((length,) + (1,) * (len(shape) - 1 - n)))
    return g.Gather(g.Reshape(x, [-1]), places, axis=0)
