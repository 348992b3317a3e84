"""Rows of the operators that losses, distances and tables of embeddings are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, pos, row, s, v


def _p_norm(
    x: Any,
    porder: float = 2.0,
    axis: int = -1,
    epsilon: float = 0.0,
    keepdim: bool = False,
    asvector: bool = False,
) -> Any:
    if asvector:
        found = np.linalg.norm(x.reshape(-1), porder)
        return np.full([1] * x.ndim if keepdim else [], found)
    return np.linalg.norm(x, porder, axis=axis, keepdims=keepdim)


def _lookup(ids: Any, weight: Any, padding_idx: int = -1, is_sparse: bool = False) -> Any:
    result = np.zeros((*ids.shape, weight.shape[1]))
    for place in np.ndindex(ids.shape):
        result[place] = 0.0 if ids[place] == padding_idx else weight[ids[place]]
    return result


def _lookup_grad(g: Any, ids: Any, like: Any, padding_idx: int = -1, is_sparse: bool = False) -> Any:
    result = np.zeros(like.shape)
    for place in np.ndindex(ids.shape):
        result[ids[place]] += 0.0 if ids[place] == padding_idx else g[place]
    return result


def _huber(x: Any, delta: float = 1.0) -> Any:
    return np.where(np.abs(x) <= delta, 0.5 * x**2, delta * (np.abs(x) - 0.5 * delta))


CASES: list[Case] = [
    *row("lookup_table_v2", _lookup, s(ints(2, 3), v(4, 2)), s(np.array(1), v(4, 2)), s(ints(0), v(4, 2)),
         s(ints(5), v(4, 3), padding_idx=1), grads="weight"),
    *row("lookup_table_v2_grad", _lookup_grad, s(v(2, 3, 2), ints(2, 3), v(4, 2)),
    s(v(2), np.array(1), v(4, 2)),
         s(v(5, 3), ints(5), v(4, 3), padding_idx=1), grads="g_in"),
    *row("huber", _huber, s(v(2, 3)), s(v()), s(v(0, 2)), s(v(9), delta=0.4), grads="x"),
    *row("kldiv_loss", lambda x, y: y * (np.log(y) - x), s(v(2, 3), pos(2, 3)), s(v(), pos()),
    grads="x target"),
    *row("kldiv_loss", lambda x, y: np.array([0.0, -1.0, 0.0]),
         s(np.array([5.0, 1.0, np.inf]), np.array([0.0, 1.0, -2.0]))),
    *row("p_norm", _p_norm, s(v(2, 3)), s(v(2, 3), axis=0, keepdim=True), s(v(2, 3), asvector=True),
         s(v(2, 3), porder=1.0), s(v(2, 3, 2), porder=3.0, axis=1), s(v(2, 3), porder=2.5, keepdim=True),
         s(v(2, 3), porder=float("inf")), s(v(2, 3), porder=float("-inf"), axis=0), s(v(2, 3), porder=0.0),
         s(v(0, 3)), s(v(2, 0)), grads="x"),
    *row("p_norm", lambda x, **_: np.abs(x), s(v()), grads="x"),
]  # fmt: skip
