"""Rows of the operator of a window of steps in ``engine/ops/quantization/moving.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, pos, row, s, v
from tests.engine.ops.quantization.table_linear import rounded


def in_window(
    x: Any, scale: Any, step: Any, ring: Any, window_size: int = 10000, is_test: bool = False,
    bit_length: int = 8, round_type: int = 1,
) -> Any:  # fmt: skip
    if is_test:
        return rounded(x, scale, bit_length, round_type), None, None
    now, place = np.abs(x).max(), int(step[0]) % window_size
    after = ring.copy()
    after[place] = now
    if now > scale[0]:
        limit = now
    elif ring[place] == scale[0]:  # the largest one left the window
        limit = after[: max(1, min(int(step[0]), window_size))].max()
    else:
        limit = scale[0]
    return rounded(x, limit, bit_length, round_type), np.array([limit]), after


def _step(number: int) -> Any:
    return np.array([number])


_RING = np.array([1.0, 3.0, 0.5, 2.0])
_THREE = np.array([3.0])

CASES: list[Case] = [
    *row("fake_quantize_range_abs_max", in_window,
         s(v(2, 3), _THREE, _step(5), _RING, window_size=4),
         s(v(2, 3), _THREE, _step(2), _RING, window_size=4),
         s(v(2, 3), pos(1) * 0.1, _step(0), np.zeros(4), window_size=4, bit_length=4),
         s(v(2, 3), _THREE, _step(1), _RING, window_size=4, round_type=0),
         s(v(2, 3), pos(1), None, None, is_test=True), s(v(4), pos(1), ints(1), None, is_test=True)),
]  # fmt: skip
