"""Rows of the operators in ``engine/ops/reductions/vector_norm.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


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


CASES: list[Case] = [
    *row("p_norm", _p_norm, s(v(2, 3)), s(v(2, 3), axis=0, keepdim=True), s(v(2, 3), asvector=True),
         s(v(2, 3), porder=1.0), s(v(2, 3, 2), porder=3.0, axis=1), s(v(2, 3), porder=2.5, keepdim=True),
         s(v(2, 3), porder=float("inf")), s(v(2, 3), porder=float("-inf"), axis=0), s(v(2, 3), porder=0.0),
         s(v(0, 3)), s(v(2, 0)), grads="x"),
    *row("p_norm", lambda x, **_: np.abs(x), s(v()), grads="x")
]
