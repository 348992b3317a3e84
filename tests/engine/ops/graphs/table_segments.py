"""Rows of the operator in ``engine/ops/graphs/segments.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s, v


def _pooled(
    x: Any, ids: Any, like: Any = None, pooltype: str = "SUM", size: int = 0, rising: bool = True
) -> Any:
    rows = size or (ids.max() + 1 if like is None else len(like))
    result = np.zeros((rows, *x.shape[1:]), x.dtype)
    reduced = {"SUM": np.sum, "MEAN": np.mean, "MIN": np.min, "MAX": np.max}[pooltype]
    for n in set(ids.tolist()):
        result[n] = reduced(x[ids == n], axis=0)
    return result


RISING = np.array([0, 0, 1, 3, 3, 3])
MIXED = np.array([2, 0, 2, 1, 0, 4])


CASES: list[Case] = [
    case
    for pooltype in ("SUM", "MEAN", "MIN", "MAX")
    for case in (
        *row("segment_pool", _pooled, s(v(6, 2), RISING, None, pooltype=pooltype),
             s(v(6), RISING, None, pooltype=pooltype), s(v(1, 2, 2), np.array([0]), None, pooltype=pooltype),
             grads="x", data=True),
        *row("segment_pool", _pooled, s(v(6, 2), MIXED, None, pooltype=pooltype, size=6, rising=False),
             grads="x"),
        *row("segment_pool", _pooled, s(v(6, 3), MIXED, v(5), pooltype=pooltype, rising=False),
             s(v(0, 3), ints(0), v(2, 2), pooltype=pooltype), grads="x"),
    )
]
