"""The matrix product that flattens leading and trailing dimensions."""

from __future__ import annotations

import numpy as np

from tests.engine.ops.case import row, s, v


def _mul(x, y, x_num_col_dims=1, y_num_col_dims=1):
    inner = int(np.prod(y.shape[:y_num_col_dims]))
    left = x.reshape(*x.shape[:x_num_col_dims], inner)
    return np.tensordot(left, y.reshape(inner, *y.shape[y_num_col_dims:]), axes=1)


CASES = row(
    "mul", _mul, s(v(2, 3), v(3, 4)), s(v(0, 3), v(3, 4)), s(v(2, 3, 2), v(6, 4)),
    s(v(2, 3, 4), v(4, 5), x_num_col_dims=2), s(v(3, 4), v(2, 2, 5), y_num_col_dims=2),
    s(v(2, 3, 1), v(1, 3, 2, 2), x_num_col_dims=1, y_num_col_dims=2), grads="x y",
)  # fmt: skip
