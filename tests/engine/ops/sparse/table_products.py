"""Rows of products at some positions of a matrix."""

from __future__ import annotations

import numpy as np

from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.sparse.references import dense, places

SORTED, MIXED = places((3, 4), 5), places((3, 4), 5, ordered=False)


def _product(values, rows, cols, dense_, like=None, height=-1):  # type: ignore[no-untyped-def]
    height = height if like is None else len(like)
    return dense(values, np.stack([rows, cols]), (height, len(dense_))) @ dense_


CASES: list[Case] = [
    *row(
        "sparse_dense_matmul",
        _product,
        s(v(5), SORTED[0], SORTED[1], v(4, 2), None, height=3),
        s(v(5), MIXED[0], MIXED[1], v(4, 3), None, height=3),
        s(v(5), MIXED[0], MIXED[1], v(4, 3), np.zeros((3, 1))),
        grads="values dense",
    ),
    *row(
        "sparse_sampled_matmul",
        lambda x, y, rows, cols: (x @ y.T)[rows, cols],
        s(v(3, 2), v(4, 2, seed=1), SORTED[0], SORTED[1]),
        s(v(3, 2), v(4, 2, seed=1), MIXED[0], MIXED[1]),
        grads="x y",
    ),
]
