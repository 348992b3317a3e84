"""Rows of the operators in ``engine/ops/quantization/abs_max.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, pos, row, s, v
from tests.engine.ops.quantization.table_linear import channel_maxima, rounded, thresholds


def integers(x: Any, kept: Any = None, bit_length: int = 8, round_type: int = 1) -> Any:
    limit = np.abs(x).max(initial=0.0, keepdims=True).reshape(-1)
    return rounded(x, limit[0], bit_length, round_type), limit


def values(x: Any, kept: Any = None, bit_length: int = 8, round_type: int = 1) -> Any:
    whole, limit = integers(x, kept, bit_length, round_type)
    return whole * limit[0] / (2 ** (bit_length - 1) - 1), limit


def channel_integers(
    x: Any, kept: Any = None, bit_length: int = 8, round_type: int = 1, quant_axis: int = 0,
    is_test: bool = False
) -> Any:
    given = is_test and kept is not None
    limit = kept if given else channel_maxima(x, quant_axis)
    whole = rounded(x, thresholds(limit, x, quant_axis), bit_length, round_type)
    return whole, None if given else limit


def channel_values(
    x: Any, kept: Any = None, bit_length: int = 8, round_type: int = 1, quant_axis: int = 0
) -> Any:
    whole, limit = channel_integers(x, kept, bit_length, round_type, quant_axis)
    return whole * thresholds(limit, x, quant_axis) / (2 ** (bit_length - 1) - 1), limit


_SAMPLES = (
    s(v(2, 3), None), s(v(), None), s(v(0, 3), None), s(v(4), None, bit_length=3),
    s(v(2, 3, 2), None, round_type=0), s(v(2, 3), pos(1)), s(v(), None, round_type=0)
)
_CHANNELS = (
    s(v(2, 3), None), s(v(3, 2, 2, 2), None, bit_length=4), s(v(2, 3), None, quant_axis=1, round_type=0),
    s(v(2, 3, 2), pos(3), quant_axis=1)
)

CASES: list[Case] = [
    *row("fake_quantize_abs_max", integers, *_SAMPLES),
    *row("fake_quantize_dequantize_abs_max", values, *_SAMPLES, grads="x", through=(0,), straight=True),
    *row("fake_channel_wise_quantize_abs_max", channel_integers, *_CHANNELS,
         s(v(2, 3), pos(3), quant_axis=1, is_test=True), s(v(2, 3), None, is_test=True),
         s(v(0, 3), pos(3), quant_axis=1, is_test=True)),
    *row("fake_channel_wise_quantize_dequantize_abs_max", channel_values, *_CHANNELS, grads="x", through=(0,),
         straight=True)
]
