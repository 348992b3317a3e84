"""Rows of the operators in ``engine/ops/quantization/moving.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, pos, row, s, v
from tests.engine.ops.quantization.table_linear import rounded


def _moved(x: Any, accum: Any, state: Any, moving_rate: float = 0.9) -> tuple[Any, Any, Any]:
    state, accum = moving_rate * state + 1, moving_rate * accum + np.abs(x).max()
    return accum / state, state, accum


def integers(
    x: Any, scale: Any, accum: Any, state: Any, is_test: bool = False, bit_length: int = 8,
    round_type: int = 1, **rate: Any
) -> Any:
    if is_test:
        return rounded(x, scale, bit_length, round_type), None, None, None
    found = _moved(x, accum, state, **rate)
    return rounded(x, found[0], bit_length, round_type), *found


def values(x: Any, scale: Any, accum: Any, state: Any, bit_length: int = 8, **attrs: Any) -> Any:
    whole, limit, *rest = integers(x, scale, accum, state, bit_length=bit_length, **attrs)
    used = np.reshape(scale if limit is None else limit, ())
    return np.asarray(whole * used / (2 ** (bit_length - 1) - 1)), limit, *rest


def observed(x: Any, accum: Any, state: Any, kept: Any, is_test: bool = False, **rate: Any) -> Any:
    return (x, None, None, None) if is_test else (x, *_moved(x, accum, state, **rate))


def in_window(
    x: Any, scale: Any, step: Any, ring: Any, window_size: int = 10000, is_test: bool = False,
    bit_length: int = 8, round_type: int = 1
) -> Any:
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

_STATE = pos(1, seed=5), pos(1, seed=6)
_SAMPLES = (
    s(v(2, 3), pos(1), *_STATE), s(v(2, 3), pos(1), None, None, is_test=True),
    s(v(4), pos(1), *_STATE, bit_length=4, moving_rate=0.5),
    s(v(2, 3, 2), pos(1), *_STATE, round_type=0), s(v(2, 3), pos(1), *_STATE, is_test=True, round_type=0),
    s(v(), pos(1), *_STATE), s(v(0, 3), pos(1), None, None, is_test=True)
)

CASES: list[Case] = [
    *row("fake_quantize_moving_average_abs_max", integers, *_SAMPLES),
    *row("fake_quantize_dequantize_moving_average_abs_max", values, *_SAMPLES, grads="x", through=(0,),
         straight=True),
    *row("moving_average_abs_max_scale", observed, s(v(2, 3), *_STATE, None), s(v(), *_STATE, pos(1)),
         s(v(2, 3), None, None, pos(1), is_test=True), s(v(0, 3), None, None, pos(1), is_test=True),
         s(v(4), *_STATE, None, moving_rate=0.3), grads="x",
         through=(0,), straight=True),
    *row("fake_quantize_range_abs_max", in_window,
         s(v(2, 3), _THREE, _step(5), _RING, window_size=4),
         s(v(2, 3), _THREE, _step(2), _RING, window_size=4),
         s(v(2, 3), pos(1) * 0.1, _step(0), np.zeros(4), window_size=4, bit_length=4),
         s(v(2, 3), _THREE, _step(1), _RING, window_size=4, round_type=0),
         s(v(2, 3), pos(1), None, None, is_test=True), s(v(4), pos(1), ints(1), None, is_test=True),
         s(v(0, 3), pos(1), None, None, is_test=True))
]
