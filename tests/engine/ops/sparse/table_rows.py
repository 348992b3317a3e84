"""Rows of taking and summing rows by number, and of values at positions."""

from __future__ import annotations

import numpy as np

from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.sparse.references import dense, places

ROWS = np.array([2, 0, -1, 2, 1])
LIKE = np.zeros(4)


def _taken(x, rows):  # type: ignore[no-untyped-def]
    return np.stack([np.zeros_like(x[0]) if r < 0 else x[r] for r in rows])


def _summed(x, rows, like):  # type: ignore[no-untyped-def]
    made = np.zeros((len(like), *x.shape[1:]))
    for value, r in zip(x, rows, strict=True):
        if r >= 0:
            made[r] += value
    return made


def _largest(x, rows, like):  # type: ignore[no-untyped-def]
    return np.stack([x[rows == r].max(axis=0) for r in range(len(like))])


def _added(values, indices, like):  # type: ignore[no-untyped-def]
    made = np.zeros(like.shape)
    np.add.at(made, tuple(indices), values)
    return made


CASES: list[Case] = [
    *row("sparse_take_rows", _taken, s(v(4), ROWS), s(v(3, 2), ROWS), s(v(3, 2, 2), ROWS), grads="x"),
    *row(
        "sparse_take_rows",
        lambda x, rows: np.zeros((2, 3)),
        s(np.zeros((0, 3)), np.array([-1, -1])),
        grads="x",
    ),
    *row(
        "sparse_sum_rows",
        _summed,
        s(v(5), ROWS, LIKE),
        s(v(5, 2), ROWS, LIKE),
        s(v(3, 2), np.array([3, 0, 1]), LIKE),
        s(np.zeros((0, 2)), np.zeros(0, np.int64), LIKE),
        grads="x",
    ),
    *row(
        "sparse_max_rows",
        _largest,
        s(v(5), np.array([1, 0, 1, 2, 0]), np.zeros(3)),
        s(v(5, 3), np.array([1, 0, 1, 2, 0]), np.zeros(3)),
        grads="x",
    ),
    *row(
        "sparse_to_dense",
        lambda values, indices, shape: dense(values, indices, shape),
        s(v(4), places((3, 4), 4), shape=[3, 4]),
        s(v(3, 2), places((3, 4), 3), shape=[3, 4, 2]),
        s(np.zeros(0), np.zeros((2, 0), np.int64), shape=[3, 4]),
        grads="values",
    ),
    *row(
        "sparse_mask",
        lambda x, indices, depth: x[tuple(indices)],
        s(v(3, 4), places((3, 4), 5), depth=2),
        s(v(3, 4, 2), places((3, 4), 5), depth=2),
        grads="x",
    ),
    *row(
        "sparse_add_at",
        _added,
        s(v(3), np.array([[0, 1, 0], [2, 1, 2]]), np.zeros((2, 3))),
        s(v(3, 2), np.array([[0, 1, 0], [2, 1, 2]]), np.zeros((2, 3, 2))),
        grads="values",
    ),
]
