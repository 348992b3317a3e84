"""Rows of the operators with a given range in ``engine/ops/quantization/linear.py``."""

from __future__ import annotations

from typing import Any

from tests.engine.ops.case import Case, ints, pos, row, s
from tests.engine.ops.quantization.table_linear import thresholds


def whole(x: Any, scale: Any, max_range: float) -> Any:
    return x * scale / max_range


def channels(
    x: Any, scales: Any, quant_bits: Any = (8,), quant_axis: int = 0, x_num_col_dims: int = 1
) -> Any:
    if len(scales) == 1:
        return x * thresholds(scales[0], x, quant_axis) / (2 ** (quant_bits[0] - 1) - 1)
    most = (2 ** (quant_bits[0] - 1) - 1) * (2 ** (quant_bits[1] - 1) - 1)
    return x * thresholds(scales[0], x, max(x_num_col_dims, 1)) * scales[1] / most


def _q(*shape: int) -> Any:
    return ints(*shape, low=-128, high=128).astype("float64")


CASES: list[Case] = [
    *row("fake_dequantize_max_abs", whole, s(_q(2, 3), pos(1), max_range=127.0),
         s(_q(4), pos(1), max_range=7)),
    *row("fake_channel_wise_dequantize_max_abs", channels, s(_q(2, 3), [pos(2)]),
         s(_q(2, 3, 2), [pos(3)], quant_axis=1, quant_bits=[4]),
         s(_q(2, 3), [pos(3), pos(1, seed=3)], quant_bits=[8, 4]),
         s(_q(2, 3, 2), [pos(2), pos(1, seed=3)], quant_bits=[8, 8], x_num_col_dims=2)),
]  # fmt: skip
