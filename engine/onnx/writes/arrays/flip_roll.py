"""Rows of reversal and circular shifts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import BEFORE_FIRST, LAST, Size, int64, shape_of, size, typed, vector


@writes("flip")
def _(g: Graph, x: Value, *, axis: Any) -> Value:
    if not len(axis):
        return g.Identity(x)
    count = len(axis)
    return g.Slice(x, [-1] * count, [BEFORE_FIRST] * count, [a % x.ndim for a in axis], [-1] * count)


def _rolled(g: Graph, x: Value, shifts: Sequence[Size], axis: Sequence[int]) -> Value:
    if not axis:
        flat = typed(g.Reshape(x, [-1]), [x._known().size], x.dtype)
        return g.Reshape(_shifted(g, flat, shifts[0], 0), shape_of(g, x), allowzero=1)
    for shift, at in zip(shifts, axis, strict=True):
        x = _shifted(g, x, shift, at % x.ndim)
    return x


def _shifted(g: Graph, x: Value, shift: Size, axis: int) -> Value:
    length = size(g, x, axis)
    cut: Size
    if isinstance(length, int) and isinstance(shift, int):
        cut = -shift % max(length, 1)
        if cut == 0:
            return typed(g.Identity(x), x.shape, x.dtype)
    else:
        cut = g.Mod(g.Neg(vector(g, shift)), g.Max(vector(g, length), np.int64(1)))
    parts = g.Slice(x, vector(g, cut), [LAST], [axis]), g.Slice(x, [0], vector(g, cut), [axis])
    return typed(g.Concat(*parts, axis=axis), x.shape, x.dtype)


@writes("roll")
def _(g: Graph, x: Value, *, shifts: Any, axis: Any) -> Value:
    return _rolled(g, x, [int(s) for s in shifts], list(axis))


@writes("roll_by")
def _(g: Graph, x: Value, shifts: Value, *, axis: Any) -> Value:
    count = len(axis) or 1
    flat = g.Reshape(int64(g, shifts), [-1])
    each = [flat] if count == 1 else g.node("Split", flat, [1] * count, outputs=count, axis=0)
    return _rolled(g, x, each, list(axis))
