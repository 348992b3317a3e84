"""Rows of the operators in ``engine/ops/linalg/lu.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _lu(x: Any, pivot: bool = True) -> Any:
    """Gauss's elimination of one matrix."""
    a, pivots = x.copy(), []
    for k in range(min(a.shape)):
        chosen = k + int(np.argmax(np.abs(a[k:, k])))
        a[[k, chosen]] = a[[chosen, k]]
        pivots.append(chosen + 1)
        for i in range(k + 1, a.shape[0]):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a, np.array(pivots, np.int32), np.zeros(1, np.int32)


CASES: list[Case] = [
    *row("lu", _lu, s(v(3, 3)), s(v(4, 2)), s(v(2, 4)), grads="x", through=(0,),
         unknown=False)
]
