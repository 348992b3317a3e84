"""Rows of the operators in ``engine/ops/arrays/tensor_array.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _written(array: Any, x: Any, i: Any) -> Any:
    at = int(np.reshape(i, ()))
    rows = [*array[:at], x, *array[at + 1 :]]
    return np.stack(rows)


def _written_back(g: Any, array: Any, i: Any) -> Any:
    at = int(np.reshape(i, ()))
    return np.stack([np.zeros_like(row) if n == at else row for n, row in enumerate(g[: len(array)])])


def _at(position: int, *shape: int) -> Any:
    return np.full(shape, position, "int64")


CASES: list[Case] = [
    *row("array_append", lambda array, x: np.stack([*array, x]),
         s(v(2, 3), v(3, seed=1)), s(v(1), v(seed=1)), s(v(3, 2, 0), v(2, 0)), grads="array x"),
    *row("array_append", lambda array, x: x[None], s(v(0, 3), v(3)), grads="x"),
    *row("write_to_array", _written,
         s(v(3, 2), v(2, seed=1), _at(1)), s(v(3, 2), v(2, seed=1), _at(3, 1)), s(v(1), v(seed=1), _at(0)),
         grads="array x", data=True),
    *row("write_to_array_grad", _written_back,
         s(v(3, 2), v(3, 2), _at(1)), s(v(4, 2), v(3, 2), _at(3, 1)), grads="g_in", unknown=False)
]
