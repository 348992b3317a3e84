"""Rows that read and write elements by their places."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.nn import functional as F
from engine.onnx.reads.rows import Known, Raw, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import NeedsKnown, Numbers, Unreadable, elements, like, numbers, sizes_of

_FAR = 1 << 31


@reads("Gather")
def _(g: Any, data: Raw, indices: Raw, *, axis: int = 0) -> Any:
    if isinstance(data, Numbers) and isinstance(indices, np.ndarray) and axis in (0, -1):
        if indices.ndim == 0:
            return (
                numbers([data.items[int(indices)]]).reshape(())
                if isinstance(data.items[int(indices)], int)
                else data.items[int(indices)]
            )
        if indices.ndim == 1:
            return numbers([data.items[int(n)] for n in indices])
    if isinstance(data, np.ndarray) and isinstance(indices, np.ndarray):
        return np.take(data, indices, axis)
    x, at = g.tensor(data), g.tensor(indices)
    axis %= x.ndim
    if isinstance(indices, np.ndarray) and (indices >= 0).all():
        placed = at
    else:
        size = sizes_of(x)[axis]
        count = T.full([], size, "int64") if isinstance(size, int) else size
        at = T.cast(at, "int64") if at.dtype.name != "int64" else at
        placed = T.where(T.less_than(at, like(0, at)), T.add(at, count), at)
    if at.ndim == 1:
        return T.gather(x, placed, axis=axis)
    if axis == 0 and x.ndim == 2 and at.ndim and not x.dtype.is_integer and x.dtype.name != "bool":
        return F.embedding(placed, x)
    shape = sizes_of(placed)
    made = T.gather(x, T.reshape(placed, [-1]), axis=axis)
    sizes = sizes_of(x)
    return T.reshape(made, [*sizes[:axis], *shape, *sizes[axis + 1 :]])


def _within(indices: Any, x: Any, axis: int) -> Any:
    """Places with negative ones counted from the end."""
    size = sizes_of(x)[axis]
    at = T.cast(indices, "int64") if indices.dtype.name != "int64" else indices
    count = T.full([], size, "int64") if isinstance(size, int) else size
    return T.where(T.less_than(at, like(0, at)), T.add(at, count), at)


@reads("GatherElements")
def _(data: Any, indices: Any, *, axis: int = 0) -> Any:
    axis %= data.ndim
    return T.take_along_axis(data, _within(indices, data, axis), axis, False)


def _places(indices: Any, x: Any, first: int = 0) -> Any:
    """Tuples of places with negative ones counted from the end."""
    depth = int(indices.shape[-1])
    if depth < 0:
        raise NeedsKnown("the length of the tuples of places must be known")
    sizes = sizes_of(x)[first : first + depth]
    counts = T.stack([T.full([], d, "int64") if isinstance(d, int) else d for d in sizes])
    at = T.cast(indices, "int64") if indices.dtype.name != "int64" else indices
    return T.where(T.less_than(at, like(0, at)), T.add(at, counts), at)


@reads("GatherND")
def _(data: Any, indices: Any, *, batch_dims: int = 0) -> Any:
    at = _places(indices, data, batch_dims)
    if not batch_dims:
        return T.gather_nd(data, at)
    sizes = sizes_of(indices)
    rows = []
    for axis in range(batch_dims):
        shape = [1] * indices.ndim
        shape[axis] = -1
        size = sizes[axis]
        own = T.reshape(T.arange(0, size, 1, "int64"), shape)
        rows.append(T.add(own, T.zeros([*sizes[:-1], 1], "int64")))
    return T.gather_nd(data, T.concat([*rows, at], axis=-1))


@reads("ScatterElements", "Scatter")
def _(data: Any, indices: Any, updates: Any, *, axis: int = 0, reduction: str = "none") -> Any:
    axis %= data.ndim
    at = _within(indices, data, axis)
    how = {"none": "assign", "add": "add", "mul": "multiply", "max": "amax", "min": "amin"}.get(reduction)
    if how is None:
        raise Unreadable(f"reduction {reduction!r:.40}")
    return T.put_along_axis(data, at, updates, axis, how, broadcast=False)


@reads("ScatterND")
def _(data: Any, indices: Any, updates: Any, *, reduction: str = "none") -> Any:
    at = _places(indices, data)
    depth = int(indices.shape[-1])
    if reduction in ("none", "add") and depth:
        if reduction == "add":
            return T.scatter_nd_add(data, at, updates)
        parts = [T.reshape(v, sizes_of(indices)[:-1]) for v in T.split(at, depth, axis=-1)]
        return T.index_put(data, parts, updates)
    sizes = sizes_of(data)
    if not all(isinstance(d, int) for d in sizes) or not depth:
        raise NeedsKnown("the shape of the data must be known")
    # As elements of the flat tensor: the start of each part, and the places within a part.
    steps = np.array([int(np.prod(sizes[n + 1 :], dtype=np.int64)) for n in range(depth)], np.int64)
    inner = int(np.prod(sizes[depth:], dtype=np.int64))
    starts = T.sum(T.multiply(at, T.to_tensor(steps)), axis=-1, keepdim=True)
    flat = T.reshape(T.add(T.reshape(starts, [-1, 1]), T.arange(0, inner, 1, "int64")), [-1])
    how = {"mul": "multiply", "max": "amax", "min": "amin"}.get(reduction)
    if how is None:
        raise Unreadable(f"reduction {reduction!r:.40}")
    made = T.put_along_axis(T.reshape(data, [-1]), flat, T.reshape(updates, [-1]), 0, how, broadcast=False)
    return T.reshape(made, sizes)


@reads("TensorScatter")
def _(
    past_cache: Any, update: Any, write_indices: Any = None, *, axis: int = -2, mode: str = "linear"
) -> Any:
    """Writes ``update`` along an axis of each element of the batch, from its own place on."""
    x = past_cache
    axis %= x.ndim
    sizes = sizes_of(update)
    if write_indices is None:
        write_indices = T.zeros([sizes[0]], "int64")
    shape = [1] * x.ndim
    shape[axis] = -1
    steps = T.reshape(T.arange(0, sizes[axis], 1, "int64"), shape)
    at = T.add(T.reshape(T.cast(write_indices, "int64"), [-1] + [1] * (x.ndim - 1)), steps)
    if mode == "circular":
        size = sizes_of(x)[axis]
        at = T.remainder(at, T.full([], size, "int64") if isinstance(size, int) else size)
    at = T.add(at, T.zeros(sizes, "int64"))
    return T.put_along_axis(x, at, update, axis, "assign", broadcast=False)


@reads("Slice")
def _(g: Any, data: Raw, starts: Raw, ends: Raw, axes: Known = None, steps: Known = None) -> Any:
    begin, end = elements(starts), elements(ends)
    step = [1] * len(begin) if steps is None else [int(v) for v in steps.reshape(-1)]
    ndim = 1 if isinstance(data, Numbers) else data.ndim
    along = list(range(len(begin))) if axes is None else [int(a) % max(ndim, 1) for a in axes.reshape(-1)]
    if not len(begin) == len(end) == len(step) == len(along) or 0 in step:
        raise Unreadable(f"starts, ends, axes and steps do not fit: {begin}, {end}, {along}, {step}")
    known = all(isinstance(v, int) for v in (*begin, *end))
    cuts = {axis: (b, e, s) for axis, b, e, s in zip(along, begin, end, step, strict=True)}
    if known and isinstance(data, Numbers | np.ndarray):
        index = tuple(slice(*_cut(cuts[n])) if n in cuts else slice(None) for n in range(ndim))
        return numbers(data.items[index[0]]) if isinstance(data, Numbers) else data[index]
    x = g.tensor(data)
    if known:
        index = tuple(slice(*_cut(cuts[n])) if n in cuts else slice(None) for n in range(x.ndim))
        return x[index]
    if any(s != 1 for s in step):
        index = tuple(slice(*cuts[n]) if n in cuts else slice(None) for n in range(x.ndim))
        return x[index]
    return T.slice(x, along, begin, [min(e, _FAR) if isinstance(e, int) else e for e in end])


def _cut(cut: tuple[int, int, int]) -> tuple[int | None, int | None, int]:
    """A slice as Python writes it: ends beyond the elements become none."""
    begin, end, step = cut
    if step < 0 and end < -_FAR:
        return (None if begin >= _FAR else begin), None, step
    return max(begin, -_FAR), (None if end >= _FAR else max(end, -_FAR)), step


@reads("Compress")
def _(input: Any, condition: Any, *, axis: int | None = None) -> Any:
    x = T.reshape(input, [-1]) if axis is None else input
    axis = 0 if axis is None else axis % x.ndim
    chosen = T.reshape(T.nonzero(condition), [-1])
    return T.gather(x, chosen, axis=axis)


@reads("ReverseSequence")
def _(input: Any, sequence_lens: Any, *, batch_axis: int = 1, time_axis: int = 0) -> Any:
    if {batch_axis, time_axis} != {0, 1}:
        raise Unreadable("batch_axis and time_axis must be 0 and 1")
    x = input if batch_axis == 1 else T.transpose(input, [1, 0, *range(2, input.ndim)])
    steps = T.unsqueeze(T.arange(0, sizes_of(x)[0], 1, "int64"), [1])
    lengths = T.unsqueeze(T.cast(sequence_lens, "int64"), [0])
    turned = T.subtract(T.subtract(lengths, like(1, lengths)), steps)
    at = T.where(T.less_than(steps, lengths), turned, T.add(steps, T.zeros_like(turned)))
    at = T.add(T.reshape(at, [*sizes_of(at), *[1] * (x.ndim - 2)]), T.zeros(sizes_of(x), "int64"))
    made = T.take_along_axis(x, at, 0, False)
    return made if batch_axis == 1 else T.transpose(made, [1, 0, *range(2, input.ndim)])
