"""Rows of the operators in ``engine/ops/arrays/creation.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s, v
from tests.engine.ops.references import U


def _batch(
    like: Any, shape: Any, value: float = 0.0, dtype: str = "float32", input_dim_idx: int = 0,
    output_dim_idx: int = 0
) -> Any:
    dims = list(shape)
    dims[output_dim_idx] = like.shape[input_dim_idx]
    return np.full(dims, value, dtype)


CASES: list[Case] = [
    *row("fill_constant", lambda dims, shape, value, dtype="float32": np.full([2, 3], value, dtype),
         s([np.array(2)], shape=[-1, 3], value=1.5), s([np.array([2]), np.array(3)], shape=[-1, -1], value=2,
         dtype="int64"), data=True),
    *row("fill_constant_batch_size_like", _batch, s(v(3, 2), shape=[-1, 4], value=0.5),
         s(v(3, 2), shape=[2, -1], dtype="int64", input_dim_idx=1, output_dim_idx=1),
         s(v(0, 2), shape=[-1, 4])),
    *row("fill_constant", lambda dims, shape, value=0.0,
         dtype="float32": np.ones(shape, dtype) * np.asarray(value, dtype),
         s(None, shape=[2, 3], value=1.5), s(None, shape=[], value=2, dtype="int64"),
         s(None, shape=[0], dtype="float64"),
         s(None, shape=[2], value=True, dtype="bool")),
    *row("fill_any_like", lambda x, value=0.0, dtype=None: np.ones_like(x, dtype=dtype) * np.asarray(value,
         dtype or x.dtype),
         *U, s(v(2, 3), value=2.5), s(v(3), value=2, dtype="int32"), s(ints(3), value=1), grads=""),
    *row("fill_any_like", lambda x, value: np.full(x.shape, value), s(v(2, 3), value=2.5), grads="x"),
    *row("range", lambda start, end, step,
         dtype="int64": np.array([start + n * step for n in range(int(np.ceil((end - start) / step)))],
         dtype),
         s(start=0, end=5, step=1), s(start=5, end=0, step=-2),
         s(start=0.5, end=2.0, step=0.5, dtype="float32"), s(start=3, end=3, step=1))
]
