"""Rows of operators whose sizes are values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.onnx.writes.arrays.creation import with_dims
from engine.onnx.writes.arrays.shape import with_ones_before
from engine.onnx.writes.graph import Graph, Value, numpy_dtype
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import joined, number, numbers_below, scalar


@writes("reshape2_dims")
def _(g: Graph, x: Value, dims: Sequence[Value], *, shape: Any, places: Any) -> Value:
    return g.Reshape(x, joined(g, with_dims(g, shape, dims, places)))


@writes("expand_v2_dims")
def _(g: Graph, x: Value, dims: Sequence[Value], *, shape: Any, places: Any) -> Value:
    """-1 keeps a dimension, and 1 does so in ONNX."""
    made = [abs(d) if isinstance(d, int) else g.Abs(d) for d in with_dims(g, shape, dims, places)]
    return g.Expand(x, joined(g, made))


@writes("tile_dims")
def _(g: Graph, x: Value, dims: Sequence[Value], *, repeat_times: Any) -> Value:
    times = [1] * (x.ndim - len(repeat_times)) + with_dims(g, repeat_times, dims)
    return g.Tile(with_ones_before(g, x, len(times)), joined(g, times))


def _alone(g: Graph, x: Value, dtype: str) -> Value:
    """The one number of a tensor, without dimensions."""
    cast = x if x.dtype == dtype else g.cast(x, dtype)
    return cast if x.shape == () else g.Reshape(cast, [])


@writes("range_of")
def _(g: Graph, start: Value, end: Value, step: Value, *, dtype: Any) -> Value:
    whole = all(numpy_dtype(v.dtype).kind in "iu" for v in (start, end, step))
    made = g.Range(*(_alone(g, v, "int64" if whole else "float64") for v in (start, end, step)))
    return g.cast(made, g.result().dtype.name)


@writes("linspace_of")
def _(g: Graph, start: Value, stop: Value, num: Value, *, dtype: Any) -> Value:
    """The last is ``stop`` itself, as NumPy gives it."""
    first, last = (_alone(g, v, "float64") for v in (start, stop))
    count = scalar(g, number(g, num))
    steps = g.Max(g.Sub(count, np.int64(1)), np.int64(1))
    places = numbers_below(g, number(g, num))
    by = g.Div(g.Sub(last, first), g.cast(steps, "float64"))
    made = g.Add(g.Mul(g.cast(places, "float64"), by), first)
    return g.cast(g.Where(g.Equal(places, steps), last, made), g.result().dtype.name)
