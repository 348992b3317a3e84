"""Rows of the operators in ``engine/ops/quantization/linear.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, pos, row, s, v


def thresholds(values: Any, x: Any, axis: int) -> Any:
    """One threshold, or one for each channel, broadcast against x."""
    return (
        values.reshape([-1 if n == axis else 1 for n in range(x.ndim)]) if axis >= 0 else values.reshape(())
    )


def channel_maxima(x: Any, axis: int) -> Any:
    return np.abs(np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)).max(1)


def rounded(x: Any, threshold: Any, bits: int = 8, round_type: int = 0) -> Any:
    """Integers, by Python's own rounding of each element."""
    most = 2 ** (bits - 1) - 1
    found = []
    for value, limit in zip(
        x.ravel(),
        np.broadcast_to(threshold if x.ndim else np.reshape(threshold, ()), x.shape).ravel(),
        strict=True,
    ):
        if round_type == 0:
            found.append(min(max(round(value / limit * most), -most - 1), most))
        else:
            scaled = min(max(value, -limit), limit) / limit * most
            found.append(np.sign(scaled) * np.floor(abs(scaled) + 0.5))
    return np.array(found, "float64").reshape(x.shape)


def quantize_linear(
    x: Any, scale: Any, zero_point: Any, accum: Any, state: Any, quant_axis: int = 0, is_test: bool = True,
    only_observer: bool = False, bit_length: int = 8, round_type: int = 0, moving_rate: float = 0.9
) -> Any:
    used = scale
    if is_test:
        outs: tuple[Any, ...] = (None, None, None)
    elif quant_axis >= 0:
        used = channel_maxima(x, quant_axis)
        outs = (used, None, None)
    else:
        state, accum = moving_rate * state + 1, moving_rate * accum + np.abs(x).max()
        used = accum / state
        outs = (used, state, accum)
    limit = thresholds(used, x, quant_axis)
    return x if only_observer else rounded(x, limit, bit_length, round_type), *outs


def dequantize_linear(
    x: Any,
    scale: Any,
    zero_point: Any,
    quant_axis: int = 0,
    bit_length: int = 8,
    only_observer: bool = False,
) -> Any:
    return x if only_observer else x * thresholds(scale, x, quant_axis) / (2 ** (bit_length - 1) - 1)


def whole_tensor(x: Any, scale: Any, max_range: float) -> Any:
    return np.asarray(x * scale.reshape(()) / max_range)


def dequantize_channels(
    x: Any, scales: Any, quant_bits: Any = (8,), quant_axis: int = 0, x_num_col_dims: int = 1
) -> Any:
    if len(scales) == 1:
        return x * thresholds(scales[0], x, quant_axis) / (2 ** (quant_bits[0] - 1) - 1)
    most = (2 ** (quant_bits[0] - 1) - 1) * (2 ** (quant_bits[1] - 1) - 1)
    return x * thresholds(scales[0], x, max(x_num_col_dims, 1)) * scales[1] / most


def _q(*shape: int) -> Any:
    return ints(*shape, low=-128, high=128).astype("float64")


_ZERO = np.zeros(1)
_STATE = pos(1, seed=5), pos(1, seed=6)


def _quantize(x: Any, scale: Any, **attrs: Any) -> Any:
    return s(x, scale, _ZERO, None, None, **{"quant_axis": -1, **attrs})


CASES: list[Case] = [
    *row("quantize_linear", quantize_linear,
         _quantize(v(2, 3), pos(1)), _quantize(v(4), pos(1), bit_length=3),
         _quantize(v(2, 3), pos(1), round_type=1), _quantize(v(2, 3), pos(1), only_observer=True),
         _quantize(v(0, 3), pos(1)), _quantize(v(), pos(1)), _quantize(v(), pos(1), round_type=1),
         _quantize(v(2, 3, 2), pos(2), quant_axis=0, bit_length=4),
         _quantize(v(2, 3, 2), pos(3), quant_axis=1, round_type=1),
         _quantize(v(2, 3), pos(2), quant_axis=0, is_test=False),
         _quantize(v(2, 3), pos(3), quant_axis=1, is_test=False, only_observer=True),
         s(v(2, 3), pos(1), _ZERO, *_STATE, quant_axis=-1, is_test=False),
         s(v(2, 3), pos(1), _ZERO, *_STATE, quant_axis=-1, is_test=False, moving_rate=0.5,
           only_observer=True)),
    *row("dequantize_linear", dequantize_linear,
         s(ints(2, 3, low=-8, high=8).astype("float64"), pos(1), _ZERO, quant_axis=-1),
         s(ints(2, 3, low=-128, high=128).astype("int8"), pos(2), _ZERO, quant_axis=0),
         s(ints(2, 3, 2, low=-999, high=999).astype("int16"), pos(3), _ZERO, quant_axis=1, bit_length=11),
         s(ints(4, low=-999, high=999).astype("int32"), pos(1), None, bit_length=16, quant_axis=-1),
         s(ints(4).astype("int8"), pos(1), _ZERO, only_observer=True, quant_axis=-1),
         s(_q(), pos(1), _ZERO, quant_axis=-1), s(_q(0, 3), pos(1), _ZERO, quant_axis=-1)),
    *row("fake_dequantize_max_abs", whole_tensor, s(_q(2, 3), pos(1), max_range=127.0),
         s(_q(4), pos(1), max_range=7), s(_q(), pos(1), max_range=7.0), s(_q(0, 3), pos(1), max_range=7.0)),
    *row("fake_channel_wise_dequantize_max_abs", dequantize_channels, s(_q(2, 3), [pos(2)]),
         s(_q(2, 0), [pos(2)]),
         s(_q(2, 3, 2), [pos(3)], quant_axis=1, quant_bits=[4]),
         s(_q(2, 3), [pos(3), pos(1, seed=3)], quant_bits=[8, 4]),
         s(_q(2, 3, 2), [pos(2), pos(1, seed=3)], quant_bits=[8, 8], x_num_col_dims=2))
]
