"""From integers back to values where the range is given: before and behind products of integers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.infer import require_floating, require_same_dtype
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.quantization import levels


def _infer(x: Spec, scale: Spec, **_: Any) -> Spec:
    require_floating("fake_dequantize_max_abs", x=x)
    require_same_dtype("fake_dequantize_max_abs", x=x, scale=scale)
    levels.require_thresholds("fake_dequantize_max_abs", "scale", scale, x, -1, (-1,))
    return x


@op("fake_dequantize_max_abs", infer=_infer)
def fake_dequantize_max_abs(xp, x, scale, *, max_range):
    """x * scale / max_range, with one ``scale`` [1]; ``max_range`` is 127 for 8 bits."""
    return x * levels.beside(scale, x, -1) / x.dtype.type(max_range)


_WHERE = "fake_channel_wise_dequantize_max_abs"


def _axis(count: int, quant_axis: int, x_num_col_dims: int) -> int:
    """The axis of the channels: with two thresholds that of a product's columns."""
    return quant_axis if count == 1 else max(x_num_col_dims, 1)


def _infer_channels(
    x: Spec, scales: list[Spec], *, quant_bits: Any, quant_axis: int, x_num_col_dims: int
) -> Spec:
    require_floating(_WHERE, x=x)
    if len(scales) not in (1, 2) or len(quant_bits) < len(scales):
        raise ArgumentError(
            f"{_WHERE}: scales are the channels' thresholds and perhaps those of the whole, with as many "
            f"quant_bits: got {len(scales)} and {list(quant_bits)}"
        )
    for bits in quant_bits:
        levels.require_levels(_WHERE, bits)
    if quant_axis not in (0, 1):
        raise ArgumentError(f"{_WHERE}: quant_axis is one of 0, 1: got {quant_axis}; transpose x first")
    axis = _axis(len(scales), quant_axis, x_num_col_dims)
    require_same_dtype(_WHERE, x=x, scales=scales[0])
    known = axis < x.ndim and -1 not in (x.shape[axis], scales[0].size)
    if axis >= x.ndim or (known and x.shape[axis] != scales[0].size):
        raise ShapeError(
            f"{_WHERE}: scales[0] holds a threshold for each channel of x {x} along axis {axis}: "
            f"got {scales[0]}"
        )
    if len(scales) == 2 and scales[1].size not in (1, -1):
        raise ShapeError(f"{_WHERE}: scales[1] is one number, shape [1]: got {scales[1]}")
    return x


@op(_WHERE, infer=_infer_channels)
def fake_channel_wise_dequantize_max_abs(xp, x, scales: list, *, quant_bits=(8,), quant_axis=0,
                                         x_num_col_dims=1):  # fmt: skip
    """The values that integers with channels stand for: of a weight, or of a product of two integers.

    One ``scales``: [channels] along ``quant_axis`` 0 or 1. Two: the weight's [channels] along axis
    ``x_num_col_dims`` of the product and the activation's [1]. ``quant_bits`` has the bits of each.
    """
    if quant_axis not in (0, 1) or len(quant_bits) < len(scales) or not all(1 <= b <= 16 for b in quant_bits):
        raise ValueError("attributes do not fit")  # inference explains which
    found = x * levels.beside(scales[0], x, _axis(len(scales), quant_axis, x_num_col_dims))
    most = levels.largest(quant_bits[0])
    if len(scales) == 2:
        found = found * scales[1].reshape(())
        most *= levels.largest(quant_bits[1])
    return found / x.dtype.type(most)
