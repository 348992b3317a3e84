"""Rows of the operators in ``engine/ops/arrays/scatter.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.arrays.references import put_along
from tests.engine.ops.case import Case, bools, ints, row, s, v
from tests.engine.ops.references import places


def _gather_nd(x: Any, index: Any) -> Any:
    made = [x[tuple(index[p])] for p in places(index.shape[:-1])]
    return np.array(made).reshape((*index.shape[:-1], *x.shape[index.shape[-1] :]))


def _nd_add(x: Any, index: Any, updates: Any) -> Any:
    result = x.copy()
    for p in places(index.shape[:-1]):
        result[tuple(index[p])] += updates[p]
    return result


def _scatter(x: Any, index: Any, updates: Any, overwrite: bool = True) -> Any:
    result = x.copy()
    rows = list(zip(index.reshape(-1), updates.reshape(index.size, *x.shape[1:]), strict=True))
    for n, u in rows:
        result[n] = u if overwrite else 0
    for n, u in rows:
        if not overwrite:
            result[n] += u
    return result


def _index_add(x: Any, index: Any, value: Any, axis: int = 0) -> Any:
    result = x.copy()
    for n, target in enumerate(index):
        np.moveaxis(result, axis, 0)[target] += np.moveaxis(value, axis, 0)[n]
    return result


def _sample(x: Any, index: Any) -> Any:
    return np.array([[x[r, c] for c in line] for r, line in enumerate(index)]).reshape(index.shape)


def _masked_select(x: Any, mask: Any) -> Any:
    x, mask = np.broadcast_arrays(x, mask)
    return np.array([x[p] for p in places(x.shape) if mask[p]])


def _masked_grad(g: Any, like: Any, mask: Any) -> Any:
    spread, chosen = np.broadcast_arrays(np.arange(like.size).reshape(like.shape), mask)
    result = np.zeros(like.size)
    for place, value in zip([int(spread[p]) for p in places(spread.shape) if chosen[p]], g, strict=True):
        result[place] += value
    return result.reshape(like.shape)


SMALL = np.array([[0, 3], [2, 1]])


TWICE = np.array([[0, 0], [1, 2]])


CASES: list[Case] = [
    # -- picking and putting
    *row("gather_nd", _gather_nd, s(v(2, 3), np.array([[0, 1], [1, 2], [0, 1]])),
         s(v(3, 2), np.array([[2], [0]])),
         s(v(3, 2), np.array([1])), s(v(2, 3), np.array([1, 2])),
         s(v(2), np.zeros((3, 0), "int64")), grads="x",
         unknown=False),
    *row("scatter_nd_add", _nd_add, s(v(2, 3), np.array([[0, 1], [1, 2], [0, 1]]), v(3, seed=1)),
         s(v(3, 2), np.array([[2], [2]]), v(2, 2, seed=1)), s(v(3, 2), np.array([1]), v(2, seed=1)),
         s(v(2), np.zeros((3, 0), "int64"), v(3, 2, seed=1)), grads="x updates", unknown=False),
    *row("scatter", _scatter, s(v(4), np.array([2, 0]), v(2, seed=1)),
         s(v(3, 2), np.array([1]), v(1, 2, seed=1)),
         s(v(3, 2), np.array([2, 0, 2]), v(3, 2, seed=1), overwrite=False),
         s(v(3, 2), np.array(1), v(2, seed=1)),
         grads="x updates"),
    *row("scatter", _scatter, s(v(3), np.array([1, 1]), v(2, seed=1))),
    *row("index_select", lambda x, index, dim=0: np.stack([x.take(i, dim) for i in index], dim),
         s(v(4), ints(3)), s(v(2, 4), ints(3), dim=1), s(v(4, 2), ints(5), dim=-2), grads="x"),
    *row("index_add", _index_add, s(v(4), ints(3), v(3, seed=1)),
         s(v(2, 4), ints(3), v(2, 3, seed=1), axis=1),
         s(v(4, 2), ints(2), v(2, 2, seed=1), axis=-2), grads="x value"),
    *row("index_sample", _sample, s(v(2, 4), ints(2, 3)), s(v(3, 4), ints(3, 1)), grads="x"),
    *row("masked_select", _masked_select, s(v(4), bools(4)), s(v(2, 3), bools(3)), s(v(3), bools(2, 3)),
         s(v(2, 1), bools(2, 3)), s(v(), np.array(True)), grads="x", data=True),
    *row("masked_select_grad", _masked_grad, s(v(2), v(4), np.array([True, False, False, True])),
         s(v(4), v(2, 1), np.array([[True, False, True], [True, True, False]])),
         s(v(3), v(3), np.array([[True, False, True], [True, False, False]])), grads="g_in"),
    *row("put_along_axis", put_along, s(v(2, 4), SMALL, v(2, 2, seed=1), axis=1),
         s(v(4, 3), np.array([[1, 0, 1]]), v(1, 3, seed=1)), s(v(2, 3), np.array([[1]]), v(), broadcast=True),
         s(v(2, 3), TWICE, v(2, 2, seed=1) * 1.1, axis=1, reduce="add"),
         s(v(2, 3), TWICE, v(2, 2, seed=1) * 1.1, axis=-1, reduce="add", include_self=False),
         s(v(2, 3), TWICE, v(2, 2, seed=1) * 1.1, axis=1, reduce="mul"),
         s(v(3, 2), np.array([[0, 1], [0, 2]]), v(2, 2, seed=1) * 1.1, reduce="mul", include_self=False),
         s(v(2, 3), TWICE, v(2, 2, seed=1) * 1.1, axis=1, reduce="amin"),
         s(v(2, 3), TWICE, v(2, 2, seed=1) * 1.1, axis=1, reduce="amax", include_self=False),
         grads="x values")
]
