"""Rows of the operators in ``engine/ops/quantization/integers.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, pos, row, s, v
from tests.engine.ops.quantization import integer_references as want

X_SCALE = np.asarray(1.7)


def _x(*shape: int) -> Any:
    return ints(*shape, low=-128, high=128).astype(float)


def _y(*shape: int, dtype: str = "int8") -> Any:
    return ints(*shape, low=-127, high=128, seed=3).astype(dtype)


def _conv(
    x: Any, weight: Any, factor: Any, bias: Any, bits: Any = None, activation: str = "", **attrs: Any
) -> Any:
    sums = want.conv_sums(x, weight, **attrs)
    axis = -1 if attrs.get("data_format") == "NHWC" else 1
    return want.rescaled(sums, factor, bias, bool(activation), axis)


def _transposed(
    x: Any, weight: Any, factor: Any, bias: Any, bits: Any = None, activation: str = "", **attrs: Any
) -> Any:
    sums = want.transposed_sums(x, weight, **attrs)
    axis = -1 if attrs.get("data_format") == "NHWC" else 1
    return want.rescaled(sums, factor, bias, bool(activation), axis)


def _mul(
    x: Any, y: Any, factor: Any, bits: Any = None, x_num_col_dims: int = 1, y_num_col_dims: int = 1
) -> Any:
    rows, columns = x.shape[:x_num_col_dims], y.shape[y_num_col_dims:]
    flat = x.astype(np.int64).reshape(int(np.prod(rows)), int(np.prod(x.shape[x_num_col_dims:])))
    sums = flat @ y.astype(np.int64).reshape(flat.shape[1], -1)
    return want.rescaled(sums, factor).reshape(*rows, *columns)


def _matmul(
    x: Any, y: Any, factor: Any, bits: Any = None, trans_x: bool = False, trans_y: bool = False
) -> Any:
    x, y = x.astype(np.int64), y.astype(np.int64)
    x = x.swapaxes(-1, -2) if trans_x and x.ndim > 1 else x
    y = y.swapaxes(-1, -2) if trans_y and y.ndim > 1 else y
    return want.rescaled(np.asarray(x @ y), factor)


CASES: list[Case] = [
    *row("integer_factor", want.factor, s(X_SCALE, np.asarray([2.5]), bits=[8, 8]),
         s(np.asarray([0.3]), pos(4), bits=[8, 4]), s(pos(3), np.asarray([0.3]), bits=[8, 4]),
         s(X_SCALE, pos(3), bits=[9, 16], repeats=2)),
    *row("mul_integer", _mul, s(_x(3, 4), _y(4, 2), pos(2), bits=[8, 8]),
         s(_x(0, 4), _y(4, 2), pos(2), bits=[8, 8]),
         s(_x(2, 3, 2), _y(3, 2, 2, 1), pos(1), bits=[8, 8], y_num_col_dims=2),
         s(_x(2, 3, 4), _y(4, 5, dtype="int16"), pos(5), bits=[8, 16], x_num_col_dims=2),
         s(_y(3, 4), _x(4, 2), pos(3, 1), bits=[8, 8])),
    *row("matmul_v2_integer", _matmul, s(_x(3, 4), _y(4, 2), pos(2), bits=[8, 8]),
         s(_x(0, 3, 4), _y(4, 2), pos(2), bits=[8, 8]),
         s(_x(2, 3, 4), _y(5, 4, dtype="float64"), pos(5), bits=[8, 8], trans_y=True),
         s(_x(2, 4, 3), _x(2, 4, 2), pos(1), bits=[8, 8], trans_x=True),
         s(_y(4, 3), _x(2, 4, 2), pos(3, 1), bits=[8, 8], trans_x=True),
         s(_x(4), _y(4, 2), pos(2), bits=[8, 8]), s(_x(3, 4), _y(4), pos(1), bits=[8, 8]),
         s(_x(4), _y(4), pos(1), bits=[8, 8])),
    *row("conv2d_integer", _conv,
         s(_x(2, 3, 5, 4), _y(2, 3, 2, 3), pos(2), None, bits=[8, 8], paddings=[1, 2]),
         s(_x(0, 3, 5, 4), _y(2, 3, 2, 3), pos(2), None, bits=[8, 8]),
         s(_x(2, 4, 4, 4), _y(4, 2, 3, 3), pos(1), v(4), bits=[8, 8], groups=2, strides=[2, 1],
           activation="relu"),
         s(_x(1, 6, 6, 2), _y(3, 2, 2, 3, dtype="int16"), pos(3), v(3), bits=[8, 12], dilations=[2, 1],
           data_format="NHWC"),
         s(_x(1, 2, 4, 4), _y(1, 2, 33, 33), pos(1), None, bits=[8, 8], padding_algorithm="SAME")),
    *row("depthwise_conv2d_integer", _conv,
         s(_x(2, 3, 5, 4), _y(3, 1, 2, 3), pos(3), v(3), bits=[8, 8], groups=3, activation="relu")),
    *row("conv2d_transpose_integer", _transposed,
         s(_x(1, 2, 3, 2), _y(2, 3, 3, 2), pos(3), None, bits=[8, 8], strides=[2, 3], paddings=[1, 0]),
         s(_x(2, 2, 3, 4), _y(4, 2, 2, 2), pos(4), v(4), bits=[8, 8], groups=2, output_padding=[1, 0],
           strides=[2, 1], data_format="NHWC", activation="relu")),
    *row("depthwise_conv2d_transpose_integer", _transposed,
         s(_x(2, 3, 3, 3), _y(3, 1, 3, 2), pos(3), v(3), bits=[8, 8], groups=3, strides=[2, 1]))
]
