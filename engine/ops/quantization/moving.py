"""Thresholds that follow the values seen in training: the moving average of their largest absolute value."""

from __future__ import annotations

from typing import Any

from engine.ops.quantization import levels

RATE = 0.9


def averaged(xp: Any, x: Any, state: Any, accum: Any, rate: float) -> tuple[Any, Any, Any]:
    """Threshold, state and accum after ``x``: state = rate * state + 1, accum = rate * accum + max |x|.

    The threshold is accum / state. All are [1], of the dtypes of x and of the two that are given.
    """
    kind = x.dtype.type
    counted = kind(rate) * state.astype(x.dtype, copy=False) + kind(1)
    summed = kind(rate) * accum.astype(x.dtype, copy=False) + levels.largest_absolute(xp, x)
    return summed / counted, counted.astype(state.dtype, copy=False), summed.astype(accum.dtype, copy=False)
