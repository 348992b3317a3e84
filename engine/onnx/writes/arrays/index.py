"""Rows of indexing: reading and writing slices, gathering rows, choosing between tensors, one-hot.

An index has the form that ``engine.ops.arrays.index`` describes: numbers, slices, None and the ellipsis are
applied first, then tensors and masks to the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import (
    BEFORE_FIRST,
    LAST,
    Size,
    int64,
    joined,
    number,
    numbers_below,
    scalar,
    shape_of,
    size,
    sizes,
    vector,
)

_BEHIND = 1 << 32  # behind the last element also for a step back, where ONNX Runtime reads LAST otherwise


@writes("where")
def _(g: Graph, condition: Value, x: Value, y: Value) -> Value:
    if x.dtype == "bool":  # ONNX Runtime chooses between numbers only
        return g.Or(g.And(condition, x), g.And(g.Not(condition), y))
    if x.dtype == "int16":
        return g.cast(g.Where(condition, g.cast(x, "int32"), g.cast(y, "int32")), "int16")
    return g.Where(condition, x, y)


def _is(item: Any, kind: str) -> bool:
    return isinstance(item, list | tuple) and item[0] == kind


def _rank(item: Any, indices: Sequence[Value]) -> int:
    """The number of dimensions of x that an item consumes."""
    if item is None or isinstance(item, str):
        return 0
    if _is(item, "tensor"):
        tensor = indices[item[1]]
        return tensor.ndim if tensor.dtype == "bool" else 1
    return 1


@dataclass
class _Plan:
    """An index as steps: slices and numbers by axes of x, then dimensions that are inserted, then tensors.

    ``tensors`` are by the axis that they consume after the other steps. ``ndim`` counts dimensions there.
    """

    slices: list[tuple[int, tuple[Any, Any, Any]]] = field(default_factory=list)
    numbers: list[tuple[int, Any]] = field(default_factory=list)
    inserted: list[int] = field(default_factory=list)
    tensors: list[tuple[int, Value]] = field(default_factory=list)
    ndim: int = 0


def _plan(ndim: int, index: Any, indices: Sequence[Value]) -> _Plan:
    items = list(index)
    if not any(isinstance(i, str) for i in items):
        items.append("...")
    at = next(n for n, i in enumerate(items) if isinstance(i, str))
    rest = ndim - sum(_rank(item, indices) for item in items)
    items[at : at + 1] = [("slice", None, None, None)] * rest
    made, axis = _Plan(), 0
    for item in items:
        if item is None:
            made.inserted.append(made.ndim)
            made.ndim += 1
        elif _is(item, "slice"):
            if any(bound is not None for bound in item[1:]):
                made.slices.append((axis, tuple(item[1:])))
            made.ndim += 1
        elif _is(item, "tensor"):
            tensor = indices[item[1]]
            made.tensors.append((made.ndim, tensor))
            if _rank(item, indices) == 0:  # a mask of no dimensions chooses from one of one element
                made.inserted.append(made.ndim)
            made.ndim += max(_rank(item, indices), 1)
        else:
            made.numbers.append((axis, item))
        axis += _rank(item, indices)
    return made


def _picked(g: Graph, x: Value, index: Any, indices: Sequence[Value]) -> tuple[Value, int]:
    """x at an index, and the number of its dimensions. ``x`` needs its Spec."""
    plan = _plan(x.ndim, index, indices)
    made = _sliced(g, x, plan.slices, indices)
    for axis, item in reversed(plan.numbers):
        place = number(g, indices[item[1]]) if _is(item, "number") else int(item)
        made = g.Gather(made, scalar(g, place), axis=axis)
    if plan.inserted:
        made = g.Unsqueeze(made, plan.inserted)
    return _by_tensors(g, made, plan) if plan.tensors else (made, plan.ndim)


def _sliced(g: Graph, x: Value, slices: Sequence[Any], indices: Sequence[Value]) -> Value:
    if not slices:
        return x
    starts: list[Size] = []
    ends: list[Size] = []
    steps: list[Size] = []
    for axis, bounds in slices:
        given = [number(g, indices[b[1]]) if isinstance(b, list | tuple) else b for b in bounds]
        start, end, step = _bounds(g, size(g, x, axis), *given)
        starts.append(start)
        ends.append(end)
        steps.append(step)
    axes = [axis for axis, _ in slices]
    plain = all(isinstance(step, int) and step == 1 for step in steps)
    return g.Slice(x, joined(g, starts), joined(g, ends), axes, None if plain else joined(g, steps))


def _bounds(g: Graph, length: Size, start: Any, end: Any, step: Any) -> tuple[Size, Size, Size]:
    step = 1 if step is None else step
    if isinstance(length, int) and all(b is None or isinstance(b, int) for b in (start, end, step)):
        first, last, by = slice(start, end, step).indices(length)
        if not len(range(first, last, by)):
            return 0, 0, 1
        return first, BEFORE_FIRST if last < 0 else last, by
    if isinstance(step, int):
        forward = step > 0
        start = (0 if forward else LAST) if start is None else start
        end = (LAST if forward else BEFORE_FIRST) if end is None else end
        if not forward and (not isinstance(start, int) or start < 0):
            # A start before the first element gives nothing, where ONNX begins with the first.
            before = g.Less(g.Add(vector(g, start), vector(g, length)), np.int64(0))
            end = g.Where(before, np.int64(_BEHIND), vector(g, end))
        return start, end, step
    back = g.Less(step, np.int64(0))
    if start is None:
        start = g.Where(back, np.int64(LAST), np.int64(0))
    if end is None:
        end = g.Where(back, np.int64(BEFORE_FIRST), np.int64(LAST))
    return start, end, step


def _by_tensors(g: Graph, x: Value, plan: _Plan) -> tuple[Value, int]:
    """x at index tensors and masks, which are broadcast together as in NumPy."""
    axes: list[int] = []
    places: list[Value] = []  # one for each of the axes, as int64
    ranks: list[int] = []
    shapes: list[Any] = []
    for axis, tensor in plan.tensors:
        if tensor.dtype != "bool":
            axes.append(axis)
            places.append(int64(g, tensor))
            ranks.append(tensor.ndim)
            shapes.append(tensor.shape if -1 not in tensor.shape else None)
            continue
        count = max(tensor.ndim, 1)
        found = g.NonZero(tensor if tensor.ndim else g.Reshape(tensor, [1]))
        rows = [found] if count == 1 else g.node("Split", found, outputs=count, axis=0)
        axes += range(axis, axis + count)
        places += [g.Squeeze(row, [0]) for row in rows]
        ranks += [1] * count
        shapes += [("mask", id(tensor))] * count
    rank = max(ranks)
    if len(axes) == 1:
        return g.Gather(x, places[0], axis=axes[0]), plan.ndim - 1 + rank
    if None in shapes or any(s != shapes[0] for s in shapes):
        zero = g.Mul(places[0], np.int64(0))
        for place in places[1:]:
            zero = g.Add(zero, g.Mul(place, np.int64(0)))
        places = [g.Add(place, zero) for place in places]
    others = [n for n in range(plan.ndim) if n not in axes]
    front = g.transposed(x, [*axes, *others])
    made = g.GatherND(front, g.Concat(*(g.Unsqueeze(place, [rank]) for place in places), axis=rank))
    before = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    ndim = rank + len(others)
    order = [*range(rank, rank + before), *range(rank), *range(rank + before, ndim)]
    return g.transposed(made, order), ndim


@writes("getitem")
def _(g: Graph, x: Value, indices: Sequence[Value], *, index: Any) -> Value:
    made = _picked(g, x, index, indices)[0]
    return g.Identity(x) if made is x else made


@writes("slice_view")
def _(g: Graph, x: Value, *, index: Any) -> Value:
    made = _picked(g, x, index, ())[0]
    return g.Identity(x) if made is x else made


@writes("set_value")
def _(g: Graph, x: Value, value: Value, indices: Sequence[Value], *, index: Any) -> Value:
    """The positions of all elements are indexed, then the value is written there."""
    shape = shape_of(g, x)
    count = x._known().size
    places = numbers_below(g, count if count >= 0 else g.Reshape(g.Size(x), [1]))
    grid = Value(g.Reshape(places, shape, allowzero=1).name, x._known().with_dtype("int64"))
    chosen, ndim = _picked(g, grid, index, indices)
    if value.ndim > ndim:
        value = g.Squeeze(value, list(range(value.ndim - ndim)))
    spread = g.Expand(value, g.Shape(chosen))
    flat = g.ScatterElements(*(g.Reshape(v, [-1]) for v in (x, chosen, spread)), axis=0)
    return g.Reshape(flat, shape, allowzero=1)


@writes("sum_to_like")
def _(g: Graph, x: Value, y: Value) -> Value:
    """The axes are those in which y has one element and x has another number."""
    if x.shape == y.shape and -1 not in x.shape:
        return g.Identity(x)
    extra = x.ndim - y.ndim
    wanted = sizes(g, y)
    to: list[Size] = [*[1] * extra, *wanted[max(-extra, 0) :]]
    if not to:
        return g.Reshape(x, shape_of(g, y), allowzero=1)
    have, target = shape_of(g, x), joined(g, to)
    summed = g.And(g.Equal(target, np.int64(1)), g.Not(g.Equal(have, np.int64(1))))
    axes = g.Reshape(g.NonZero(summed), [-1])
    return g.Reshape(g.ReduceSum(x, axes, noop_with_empty_axes=1), shape_of(g, y), allowzero=1)


@writes("gather")
def _(g: Graph, x: Value, index: Value, *, axis: int) -> Value:
    return g.Gather(x, index, axis=axis)


@writes("one_hot_v2")
def _(g: Graph, x: Value, *, depth: int) -> Value:
    return g.cast(g.Equal(g.Unsqueeze(x, [x.ndim]), np.arange(depth).astype(x.dtype)), "float32")


@writes("multiplex")
def _(g: Graph, xs: Sequence[Value], index: Value) -> Value:
    rows = g.Reshape(numbers_below(g, vector(g, sizes(g, index)[0])), [-1, 1])
    stacked = g.Concat(*(g.Unsqueeze(x, [0]) for x in xs), axis=0)
    return g.GatherND(stacked, g.Concat(int64(g, index), rows, axis=1))
