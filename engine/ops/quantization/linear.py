"""To integers and back with given thresholds: the pair of quantized models, and products of integers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.operators.bounds import Bits, Number
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.quantization import levels
from engine.ops.quantization.moving import RATE, averaged, require_state

_AXES = (-1, 0, 1)
_STATE = {"out_scale": "scale", "out_state": "in_state", "out_accum": "in_accum"}


def _infer_quantize(
    x: Spec,
    scale: Spec,
    zero_point: Spec | None,
    in_accum: Spec | None,
    in_state: Spec | None,
    *,
    quant_axis: int,
    bit_length: int,
    round_type: int,
    is_test: bool,
    **_: Any,
) -> tuple[Spec | None, ...]:
    require_floating("quantize_linear", x=x)
    levels.require_levels("quantize_linear", bit_length, round_type)
    levels.require_thresholds("quantize_linear", "scale", scale, x, quant_axis, _AXES)
    if is_test:
        return x, None, None, None
    if quant_axis >= 0:
        return x, scale, None, None
    require_state("quantize_linear", in_accum, in_state)
    return x, scale, in_state, in_accum


@op(
    "quantize_linear",
    infer=_infer_quantize,
    outputs=("y", "out_scale", "out_state", "out_accum"),
    writes=_STATE,
)
def quantize_linear(
    xp,
    x,
    scale,
    zero_point=None,
    in_accum=None,
    in_state=None,
    *,
    quant_axis=0,
    bit_length: Bits = 8,
    round_type=0,
    is_test=True,
    only_observer=False,
    moving_rate=None,
):
    """The integers, stored in x's dtype, that represent ``x`` between the thresholds ``scale``.

    They are the first of four results; the others are the new thresholds, state and accum, None if not made.
    ``scale`` is [1] with ``quant_axis`` -1, else [channels] along axis 0 or 1. ``zero_point`` is not read, as
    in Paddle: integers are centred on 0. Without ``is_test`` the thresholds are first found from x and
    written to ``scale``: a channel's largest absolute value, or the moving average (see ``moving.averaged``).
    With ``only_observer`` the result is x itself. There is no gradient, as in Paddle.
    """
    work = x.astype(levels.working(x.dtype), copy=False)
    used, state, accum = scale, None, None
    if not is_test and quant_axis >= 0:
        used = levels.channel_thresholds(xp, work, quant_axis)
    elif not is_test:
        rate = RATE if moving_rate is None else moving_rate
        used, state, accum = averaged(xp, work, in_state, in_accum, rate)
    out_scale = None if is_test else used.astype(scale.dtype, copy=False).reshape(scale.shape)
    if only_observer:
        return x.copy(), out_scale, state, accum
    q = levels.quantized(xp, x, used, quant_axis, bit_length, round_type)
    return q, out_scale, state, accum


def _infer_dequantize(
    x: Spec,
    scale: Spec,
    zero_point: Spec | None,
    *,
    quant_axis: int,
    bit_length: int,
    round_type: int,
    only_observer: bool,
    **_: Any,
) -> Spec:
    if x.dtype.is_complex:
        raise DTypeError(f"dequantize_linear: x holds integers: got {x}; take its real part")
    levels.require_levels("dequantize_linear", bit_length, round_type)
    levels.require_thresholds("dequantize_linear", "scale", scale, x, quant_axis, _AXES)
    return x if only_observer else x.with_dtype(scale.dtype)


@op("dequantize_linear", infer=_infer_dequantize, outputs=("y",))
def dequantize_linear(
    xp,
    x,
    scale,
    zero_point=None,
    *,
    quant_axis=0,
    bit_length: Bits = 8,
    round_type=0,
    is_test=True,
    only_observer=False,
):
    """The values of ``scale``'s dtype that the integers ``x`` represent: x * scale / (2 ** (bits - 1) - 1).

    x is of any dtype but a complex one; with ``only_observer`` the result is x itself. ``scale``,
    ``quant_axis`` and ``zero_point`` are as in ``quantize_linear``; ``round_type`` and ``is_test`` change
    nothing.
    """
    if only_observer:
        return x.copy()
    fits = 1 <= bit_length <= 16 and quant_axis in _AXES and round_type in (0, 1)
    if not fits or x.dtype.kind == "c":
        raise ValueError("attributes do not fit")  # inference explains which
    limit = levels.broadcast(scale, x, quant_axis)
    return levels.to_values(x.astype(scale.dtype, copy=False), limit, bit_length)


def _infer_whole(x: Spec, scale: Spec, **_: Any) -> Spec:
    require_floating("fake_dequantize_max_abs", x=x)
    require_same_dtype("fake_dequantize_max_abs", x=x, scale=scale)
    levels.require_thresholds("fake_dequantize_max_abs", "scale", scale, x, -1, (-1,))
    return x


@op("fake_dequantize_max_abs", infer=_infer_whole)
def fake_dequantize_max_abs(xp, x, scale, *, max_range: Number):
    """x * scale / max_range, with one ``scale`` [1]; ``max_range`` is 127 for 8 bits."""
    return x * levels.broadcast(scale, x, -1) / x.dtype.type(max_range)


_PARTS = "fake_channel_wise_dequantize_max_abs"


def _axis(count: int, quant_axis: int, x_num_col_dims: int) -> int:
    """The axis of the channels: with two thresholds that of a product's columns."""
    return quant_axis if count == 1 else max(x_num_col_dims, 1)


def _infer_channels(
    x: Spec, scales: list[Spec], *, quant_bits: Any, quant_axis: int, x_num_col_dims: int
) -> Spec:
    require_floating(_PARTS, x=x)
    if len(scales) not in (1, 2) or len(quant_bits) < len(scales):
        raise ArgumentError(
            f"{_PARTS}: scales are the channels' thresholds and perhaps those of the whole, with as many "
            f"quant_bits: got {len(scales)} and {list(quant_bits)}"
        )
    for bits in quant_bits:
        levels.require_levels(_PARTS, bits)
    if quant_axis not in (0, 1):
        raise ArgumentError(f"{_PARTS}: quant_axis must be one of 0, 1: got {quant_axis}; transpose x first")
    axis = _axis(len(scales), quant_axis, x_num_col_dims)
    require_same_dtype(_PARTS, x=x, scales=scales[0])
    known = axis < x.ndim and -1 not in (x.shape[axis], scales[0].size)
    if axis >= x.ndim or (known and x.shape[axis] != scales[0].size):
        raise ShapeError(
            f"{_PARTS}: scales[0] holds a threshold for each channel of x {x} along axis {axis}: "
            f"got {scales[0]}"
        )
    if len(scales) == 2 and scales[1].size not in (1, -1):
        raise ShapeError(f"{_PARTS}: scales[1] must be one number, shape [1]: got {scales[1]}")
    return x


@op(_PARTS, infer=_infer_channels)
def fake_channel_wise_dequantize_max_abs(
    xp, x, scales: list, *, quant_bits: Bits = (8,), quant_axis=0, x_num_col_dims=1
):
    """The values that integers with channels represent: of a weight, or of a product of two integers.

    One ``scales``: [channels] along ``quant_axis`` 0 or 1. Two: the weight's [channels] along axis
    ``x_num_col_dims`` of the product and the activation's [1]. ``quant_bits`` has the bits of each.
    """
    if quant_axis not in (0, 1) or len(quant_bits) < len(scales) or not all(1 <= b <= 16 for b in quant_bits):
        raise ValueError("attributes do not fit")  # inference explains which
    found = x * levels.broadcast(scales[0], x, _axis(len(scales), quant_axis, x_num_col_dims))
    most = levels.largest(quant_bits[0])
    if len(scales) == 2:
        found = found * scales[1].reshape(())
        most *= levels.largest(quant_bits[1])
    return found / x.dtype.type(most)
