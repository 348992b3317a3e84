"""Rows of the operators that move elements: shapes, joining, indexing, constants, sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, bools, ints, row, s, unary_shapes, v

U = list(unary_shapes())


def _index(index: Any, tensors: Any = ()) -> Any:
    made: list[Any] = []
    for item in index:
        if isinstance(item, tuple):
            made.append(slice(*item[1:]) if item[0] == "slice" else tensors[item[1]])
        else:
            made.append(Ellipsis if item == "..." else item)
    return tuple(made)


def _added(g: Any, like: Any, indices: Any, index: Any) -> Any:
    """g added at an index, element by element."""
    places = np.arange(like.size).reshape(like.shape)[_index(index, indices)]
    result = np.zeros(like.size)
    for place, value in zip(places.reshape(-1), np.broadcast_to(g, places.shape).reshape(-1), strict=True):
        result[place] += value
    return result.reshape(like.shape)


def _set(x: Any, value: Any, indices: Any, index: Any) -> Any:
    result = x.copy()
    result[_index(index, indices)] = value
    return result


def _reshape(x: Any, shape: Any) -> Any:
    return x.reshape([x.shape[n] if d == 0 else d for n, d in enumerate(shape)])


def _flatten(x: Any, start_axis: int = 1, stop_axis: int = -1) -> Any:
    if x.ndim == 0:
        return x.reshape(1)
    first, last = start_axis % x.ndim, stop_axis % x.ndim
    return x.reshape(*x.shape[:first], int(np.prod(x.shape[first : last + 1])), *x.shape[last + 1 :])


def _squeeze(x: Any, axes: Any = ()) -> Any:
    wanted = [a % x.ndim for a in axes] or range(x.ndim)
    return x.reshape([d for n, d in enumerate(x.shape) if d != 1 or n not in wanted])


def _unsqueeze(x: Any, axes: Any) -> Any:
    for axis in axes:
        x = np.expand_dims(x, axis)
    return x


def _topk(x: Any, k: int = 1, axis: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    def best(line: Any) -> list[int]:
        order = [(-float(value) if largest else float(value), n) for n, value in enumerate(line)]
        order.sort()
        return [n for _, n in order[:k]]

    where = np.apply_along_axis(best, axis, x)
    return np.take_along_axis(x, where, axis), where


def _put(g: Any, like: Any, indices: Any, axis: int = -1) -> Any:
    result = np.zeros(like.shape)
    for place in np.ndindex(indices.shape):
        target = list(place)
        target[axis] = int(indices[place])
        result[tuple(target)] += g[place]
    return result


def _gather_grad(g: Any, like: Any, index: Any, axis: int = 0) -> Any:
    result = np.zeros(like.shape)
    moved = np.moveaxis(result, axis, 0)
    flat = np.moveaxis(g.reshape(*like.shape[:axis], index.size, *like.shape[axis + 1 :]), axis, 0)
    for n, place in enumerate(index.reshape(-1)):
        moved[place] += flat[n]
    return result


def _fold(x: Any, y: Any) -> Any:
    total = np.zeros(y.shape)
    padded = (1,) * (x.ndim - y.ndim) + y.shape
    total = total.reshape(padded)
    for place in np.ndindex(x.shape):
        total[tuple(min(p, d - 1) for p, d in zip(place, padded, strict=True))] += x[place]
    return total.reshape(y.shape)


def _pad(x: Any, paddings: Any, pad_value: float = 0.0) -> Any:
    before, after = paddings[0::2], paddings[1::2]
    result = np.full([d + b + a for d, b, a in zip(x.shape, before, after, strict=True)], pad_value)
    for place in np.ndindex(result.shape):
        source = tuple(p - b for p, b in zip(place, before, strict=True))
        if all(0 <= p < d for p, d in zip(source, x.shape, strict=True)):
            result[place] = x[source]
    return result


ALL = ("slice", None, None, None)
VIEWS = [
    s(v(4), index=(1,)), s(v(4), index=(-1,)), s(v(2, 3), index=("...", 1)), s(v(2, 3), index=(None, 1)),
    s(v(5, 3), index=(("slice", 1, 4, 2),)), s(v(5, 3),
    index=(("slice", None, None, -1), ("slice", 0, 2, None))),
    s(v(2, 3, 4), index=(0, "...", ("slice", 3, 0, -2))), s(v(5), index=(("slice", 4, 2, None),)),
    s(v(), index=("...",)),
    s(v(5, 3), index=(("slice", -2, None, None),)),
]  # fmt: skip
GATHERS = [
    s(v(4), [np.array([2, 0, 2])], index=(("tensor", 0),)),
    s(v(3, 4), [np.array([[2, 0], [1, -1]])], index=(("tensor", 0), ("slice", 1, 3, None))),
    s(v(3, 4), [np.array([0, 2]), np.array([1, 3])], index=(("tensor", 0), ("tensor", 1))),
    s(v(3, 4, 2), [np.array([0, 2]), np.array([[1], [0]])], index=(("tensor", 0), ALL, ("tensor", 1))),
    s(v(2, 3), [np.array(1)], index=(ALL, ("tensor", 0))),
]
MASKS = [
    s(v(3, 4), [np.array([True, False, True])], index=(("tensor", 0),)),
    s(v(2, 3), [v(2, 3) > 0], index=(("tensor", 0),)),
]  # fmt: skip


def _values(like: Any, sample: Any, scalar: bool = False) -> Any:
    """A value of the shape that an index picks."""
    picked = sample.inputs[0][
        _index(sample.attrs["index"], sample.inputs[1] if len(sample.inputs) > 1 else ())
    ]
    return v(seed=4) if scalar else v(*picked.shape, seed=4)


def _grad_sample(sample: Any) -> Any:
    indices = sample.inputs[1] if len(sample.inputs) > 1 else []
    return s(_values(None, sample), sample.inputs[0], indices, **sample.attrs)


def _set_sample(sample: Any, scalar: bool = False) -> Any:
    indices = sample.inputs[1] if len(sample.inputs) > 1 else []
    return s(sample.inputs[0], _values(None, sample, scalar), indices, **sample.attrs)


# Where an index names a place twice, which value stays is not defined.
ONCE = [*GATHERS[2:], *MASKS]

CASES: list[Case] = [
    *row("reshape2", _reshape, s(v(2, 3), shape=[3, 2]), s(v(2, 3), shape=[-1]),
         s(v(2, 3, 2), shape=[0, -1]), s(v(), shape=[1, 1]),
         s(v(1), shape=[]), s(v(0, 3), shape=[0, 1, 3]), s(v(2, 3), shape=[0, 3, 1]), grads="x"),
    *row("reshape_as", lambda x, y: x.reshape(y.shape), s(v(2, 3), v(3, 2)), s(v(), v(1, 1)), grads="x"),
    *row("flatten_contiguous_range", _flatten, s(v(2, 3, 2)), s(v(2, 3, 2), start_axis=0),
         s(v(), start_axis=0, stop_axis=-1),
         s(v(2, 3, 2), start_axis=0, stop_axis=1), s(v(4), start_axis=0), s(v(0, 3, 2)), grads="x"),
    *row("transpose2", lambda x, axis: np.einsum(x, list(range(x.ndim)), [a % x.ndim for a in axis]),
         s(v(2, 3), axis=[1, 0]), s(v(2, 3, 4), axis=[2, 0, 1]), s(v(2, 3, 4), axis=[0, -1, 1]),
         s(v(4), axis=[0]), grads="x"),
    *row("squeeze2", _squeeze, s(v(1, 3, 1), axes=[0]), s(v(1, 3, 1), axes=[-1, 0]), s(v(2, 3), axes=[0]),
         grads="x", unknown=False),
    *row("squeeze2", _squeeze, s(v(1, 3, 1)), s(v(1)), grads="x", unknown=False),
    *row("unsqueeze2", _unsqueeze, s(v(2, 3), axes=[0]), s(v(2, 3), axes=[1, -1]), s(v(), axes=[0]),
         s(v(0), axes=[-1]), grads="x"),
    *row("concat", lambda xs, axis=0: np.vstack(xs) if axis == 0 else np.hstack(xs),
         s([v(2, 3), v(1, 3, seed=2)]), s([v(2, 1), v(2, 3)], axis=1),
         s([v(2, 3)], axis=-1), s([v(0, 3), v(2, 3)]), grads="xs"),
    *row("concat_grad", lambda g, like, axis=0: [g[:2], g[2:]] if axis == 0 else [g[:, :1], g[:, 1:]],
         s(v(3, 3), [v(2, 3), v(1, 3)]), s(v(2, 4), [v(2, 1), v(2, 3)], axis=1), grads="g_in"),
    *row("stack", lambda xs, axis=0: np.concatenate([np.expand_dims(x, axis) for x in xs], axis),
         s([v(2, 3), v(2, 3, seed=2)]),
         s([v(2), v(2, seed=2)], axis=1), s([v(), v(seed=2)]), s([v(2, 3)], axis=-1), grads="xs"),
    *row("unstack", lambda x, axis=0, num=None: [x.take(n, axis) for n in range(x.shape[axis])],
         s(v(2, 3), num=2), s(v(2, 3), axis=1, num=3), grads="x"),
    *row("split", lambda x, sections, axis=0: [x.take(range(sum(sections[:n]), sum(sections[: n + 1])),
         axis) for n in range(len(sections))],
         s(v(4, 2), sections=[1, 3]), s(v(2, 4), axis=-1, sections=[2, 2]), s(v(3), sections=[3]), grads="x"),
    *row("expand_v2", lambda x, shape: x * np.ones([x.shape[n - len(shape)] if d == -1 else d for n,
         d in enumerate(shape)]),
         s(v(1, 3), shape=[2, 3]), s(v(3), shape=[2, -1]), s(v(), shape=[2, 2]),
         s(v(2, 1, 1), shape=[3, -1, 4, -1]), grads="x"),
    *row("tile", lambda x, repeat_times: np.kron(np.ones(repeat_times),
         x) if x.ndim else np.full(repeat_times, x),
         s(v(2, 3), repeat_times=[2, 1]), s(v(3), repeat_times=[2, 2]), s(v(2, 3), repeat_times=[2]),
         s(v(), repeat_times=[3]), grads="x"),
    *row("shape", lambda x: np.array(x.shape, np.int32), *U, unknown=True),
    *row("assign", lambda x: x, *U, grads="x"),
    *row("assign", lambda x: x, s(ints(3)), s(bools(3))),
    *row("share_data", lambda x: x, *U, s(ints(3))),
    *row("fill_constant", lambda dims, shape, value=0.0,
         dtype="float32": np.ones(shape, dtype) * np.asarray(value, dtype),
         s(None, shape=[2, 3], value=1.5), s(None, shape=[], value=2, dtype="int64"),
         s(None, shape=[0], dtype="float64"),
         s(None, shape=[2], value=True, dtype="bool")),
    *row("fill_any_like", lambda x, value=0.0, dtype=None: np.ones_like(x, dtype=dtype) * np.asarray(value,
         dtype or x.dtype),
         *U, s(v(2, 3), value=2.5), s(v(3), value=2, dtype="int32"), s(ints(3), value=1), grads=""),
    *row("fill_any_like", lambda x, value: np.full(x.shape, value), s(v(2, 3), value=2.5), grads="x"),
    *row("range", lambda start, end, step,
         dtype="int64": np.array([start + n * step for n in range(int(np.ceil((end - start) / step)))],
         dtype),
         s(start=0, end=5, step=1), s(start=5, end=0, step=-2),
         s(start=0.5, end=2.0, step=0.5, dtype="float32"), s(start=3, end=3, step=1)),
    *row("assign_value", lambda shape, values, dtype="float32": np.array(values, dtype).reshape(shape),
         s(shape=[2, 2], values=[1.0, 2.0, 3.0, 4.0]), s(shape=[], values=[3], dtype="int64"),
         s(shape=[0], values=[])),
    *row("pad", _pad, s(v(2, 3), paddings=[1, 0, 0, 2]), s(v(3), paddings=[1, 1], pad_value=2.5),
         s(v(4, 3), paddings=[-1, 1, 0, -1]), grads="x"),
    *row("sum_to_like", _fold, s(v(2, 3), v(3)), s(v(2, 3), v(2, 1)), s(v(2, 3), v()), s(v(2, 3), v(2, 3)),
         s(v(4, 2, 3), v(2, 1)), grads="x"),
    # -- indexing
    *row("slice_view", lambda x, index: x[_index(index)], *VIEWS, grads="x"),
    *row("getitem", lambda x, indices, index: x[_index(index, indices)],
         *[s(c.inputs[0], [], **c.attrs) for c in VIEWS], *GATHERS, grads="x"),
    *row("getitem", lambda x, indices, index: x[_index(index, indices)], *MASKS, grads="x", data=True),
    *row("getitem_grad", _added, *[_grad_sample(c) for c in (*VIEWS, *GATHERS, *MASKS)], grads="g_in"),
    *row("set_value", _set, *[_set_sample(c) for c in (*VIEWS, *ONCE)],
         *[_set_sample(c, scalar=True) for c in (*VIEWS[:3], *ONCE[:2])],
         grads="x value"),
    *row("where", lambda c, x, y: c * x + ~c * y, s(bools(2, 3), v(2, 3), v(2, 3, seed=2)),
         s(bools(2, 1), v(3), v(1, 3, seed=2)),
         s(bools(), v(), v(seed=2)), s(bools(3), v(2, 3), v(seed=2)), grads="x y"),
    *row("where", lambda c, x, y: np.array([1.0, 2.0]),
         s(np.array([True, False]), np.array([1.0, np.nan]), np.array([np.inf, 2.0]))),
    *row("gather", lambda x, index, axis=0: np.stack([x.take(i, axis) for i in index.reshape(-1)],
         axis).reshape(*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]),
         s(v(4), ints(3)), s(v(4, 3), ints(2)), s(v(2, 4), ints(3), axis=1), s(v(4, 2), ints(2, 2)),
         s(v(4, 2), np.array(1)), grads="x"),
    *row("gather_grad", _gather_grad, s(v(3), v(4), ints(3)), s(v(2, 3), v(2, 4), ints(3), axis=1),
         s(v(2, 2, 2), v(4, 2), ints(2, 2)), grads="g_in"),
    *row("top_k_v2", _topk, s(v(5), k=2), s(v(2, 4)), s(v(3, 2), k=2, axis=0),
         s(v(2, 4), k=3, largest=False), grads="x"),
    *row("top_k_v2", _topk, s(ints(2, 6), k=3), s(ints(2, 6), k=3, largest=False), s(ints(2, 6)),
         s(ints(2, 6).astype(np.uint8), k=2)),
    *row("put_along_axis_zeros", _put, s(v(2, 2), v(2, 4), np.array([[0, 3], [2, 1]])),
         s(v(1, 3), v(2, 3), np.array([[1, 0, 1]]), axis=0),
         s(v(3), v(2), np.array([1, 1, 0])), grads="g_in"),
    *row("take_along_axis", np.take_along_axis, s(v(2, 4), np.array([[0, 3], [2, 1]]), axis=1),
         s(v(2, 3), np.array([[1, 0, 1]]), axis=0),
         s(v(2), np.array([1, 1, 0]), axis=-1), grads="x"),
    *row("one_hot_v2", lambda x, depth: np.eye(depth, dtype=np.float32)[x], s(ints(3), depth=4),
         s(ints(2, 2), depth=5), s(np.array(2), depth=3)),
]  # fmt: skip
