"""Rows of the operators in ``engine/ops/arrays/index.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, bools, ints, row, s, v


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


ALL = ("slice", None, None, None)


VIEWS = [
    s(v(4), index=(1,)), s(v(4), index=(-1,)), s(v(2, 3), index=("...", 1)), s(v(2, 3), index=(None, 1)),
    s(v(5, 3), index=(("slice", 1, 4, 2),)), s(v(5, 3),
    index=(("slice", None, None, -1), ("slice", 0, 2, None))),
    s(v(2, 3, 4), index=(0, "...", ("slice", 3, 0, -2))), s(v(5), index=(("slice", 4, 2, None),)),
    s(v(), index=("...",)),
    s(v(5, 3), index=(("slice", -2, None, None),))
]


GATHERS = [
    s(v(4), [np.array([2, 0, 2])], index=(("tensor", 0),)),
    s(v(3, 4), [np.array([[2, 0], [1, -1]])], index=(("tensor", 0), ("slice", 1, 3, None))),
    s(v(3, 4), [np.array([0, 2]), np.array([1, 3])], index=(("tensor", 0), ("tensor", 1))),
    s(v(3, 4, 2), [np.array([0, 2]), np.array([[1], [0]])], index=(("tensor", 0), ALL, ("tensor", 1))),
    s(v(2, 3), [np.array(1)], index=(ALL, ("tensor", 0))),
]


MASKS = [
    s(v(3, 4), [np.array([True, False, True])], index=(("tensor", 0),)),
    s(v(2, 3), [v(2, 3) > 0], index=(("tensor", 0),))
]


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


# If an index names a place twice, the value that stays is undefined.
ONCE = [*GATHERS[2:], *MASKS]


CASES: list[Case] = [
    *row("multiplex", lambda xs, index: np.stack([xs[int(k)][n] for n, k in enumerate(index[:, 0])]),
         s([v(3, 2), v(3, 2, seed=1)], np.array([[0], [1], [0]])),
         s([v(2, 2, 2, seed=n) for n in range(3)], np.array([[2], [0]])), grads="xs"),
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
    *row("one_hot_v2", lambda x, depth: np.eye(depth, dtype=np.float32)[x], s(ints(3), depth=4),
         s(ints(2, 2), depth=5), s(np.array(2), depth=3))
]
