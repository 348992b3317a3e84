"""Rows of the operators in ``engine/ops/arrays/triangles.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.references import places


def _triangle(x: Any, diagonal: int = 0, lower: bool = True) -> Any:
    result = x.copy()
    for place in places(x.shape):
        r, c = place[-2:]
        if (c - r > diagonal) if lower else (c - r < diagonal):
            result[place] = 0
    return result


def _triangle_indices(lower: bool) -> Any:
    def want(rows: int, cols: int, offset: int = 0, dtype: str = "int64") -> Any:
        away = [(r, c) for r, c in places((rows, cols)) if (offset - c + r) * (1 if lower else -1) >= 0]
        return np.array(away, dtype).reshape(-1, 2).T

    return want


CASES: list[Case] = [
    *row("tril_triu", _triangle, s(v(3, 3)), s(v(3, 4), diagonal=1), s(v(4, 2), diagonal=-1, lower=False),
         s(v(2, 3, 3), lower=False), s(v(0, 3)), grads="x"),
    *row("tril_indices", _triangle_indices(True), s(rows=3, cols=4), s(rows=4, cols=2, offset=-1),
         s(rows=2, cols=3, offset=2, dtype="int32"), s(rows=0, cols=3)),
    *row("triu_indices", _triangle_indices(False), s(rows=3, cols=4), s(rows=4, cols=2, offset=-1),
         s(rows=2, cols=3, offset=2, dtype="int32"), s(rows=2, cols=2, offset=5))
]
