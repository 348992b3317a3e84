"""Rows of the operators in ``engine/ops/sequences/masks.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s, v


def _mask(x: Any, most: Any = None, maxlen: int = -1, out_dtype: str = "int64") -> Any:
    size = int(most.reshape(-1)[0]) if most is not None else maxlen if maxlen > 0 else int(x.max())
    result = np.zeros((*x.shape, size), out_dtype)
    for place in np.ndindex(x.shape):
        result[place][: x[place]] = 1
    return result


def _csr(offset: Any, columns: Any, like: Any) -> Any:
    result = np.zeros(like.shape, bool)
    for b, h, n in np.ndindex(like.shape[:3]):
        for column in columns[b, h, offset[b, h, n] : offset[b, h, n + 1]]:
            result[b, h, n, column] = True
    return result


OFFSET = np.array([[[0, 2, 3, 3], [0, 1, 2, 4]]])


COLUMNS = np.array([[[0, 2, 1, 0], [0, 1, 0, 2]]])


CASES: list[Case] = [
    *row("sequence_mask", _mask, s(np.array([1, 3, 0]), None, maxlen=4),
    s(ints(2, 3), None, maxlen=2, out_dtype="float64"),
         s(np.array(2), None, maxlen=3, out_dtype="bool"), s(ints(0, 2), None, maxlen=3)),
    *row("sequence_mask", _mask, s(np.array([1, 3, 0]), None), s(ints(2, 2), np.array([5])), data=True),
    *row("csr_mask", _csr, s(OFFSET, COLUMNS, v(1, 2, 3, 3)), s(OFFSET[:0], COLUMNS[:0], v(0, 2, 3, 3)))
]
