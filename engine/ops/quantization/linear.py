"""The pair that quantized models are made of: to integers, and from integers to the values they stand for."""

from __future__ import annotations

from typing import Any

from engine.core.infer import require_floating
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.quantization import levels
from engine.ops.quantization.moving import RATE, averaged, require_state

_AXES = (-1, 0, 1)
_STATE = {"out_scale": "scale", "out_state": "in_state", "out_accum": "in_accum"}


def _infer_quantize(
    x: Spec, scale: Spec, zero_point: Spec | None, in_accum: Spec | None, in_state: Spec | None, *,
    quant_axis: int, bit_length: int, round_type: int, is_test: bool, **_: Any,
) -> tuple[Spec | None, ...]:  # fmt: skip
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
def quantize_linear(xp, x, scale, zero_point=None, in_accum=None, in_state=None, *, quant_axis=0,
                    bit_length=8, round_type=0, is_test=True, only_observer=False,
                    moving_rate=None):  # fmt: skip
    """The integers, kept in x's dtype, that stand for ``x`` between the thresholds ``scale``.

    They are the first of four results; the others are the new thresholds, state and accum, None if not made.
    ``scale`` is [1] with ``quant_axis`` -1, else [channels] along axis 0 or 1. ``zero_point`` is not read, as
    in Paddle: integers lie around 0. Without ``is_test`` the thresholds are first found from x and written to
    ``scale``: a channel's largest absolute value, or the moving average (see ``moving.averaged``). With
    ``only_observer`` the result is x itself. There is no gradient, as in Paddle.
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
    x: Spec, scale: Spec, zero_point: Spec | None, *, quant_axis: int, bit_length: int, round_type: int,
    only_observer: bool, **_: Any,
) -> Spec:  # fmt: skip
    levels.require_levels("dequantize_linear", bit_length, round_type)
    levels.require_thresholds("dequantize_linear", "scale", scale, x, quant_axis, _AXES)
    return x if only_observer else x.with_dtype(scale.dtype)


@op("dequantize_linear", infer=_infer_dequantize, outputs=("y",))
def dequantize_linear(xp, x, scale, zero_point=None, *, quant_axis=0, bit_length=8, round_type=0,
                      is_test=True, only_observer=False):  # fmt: skip
    """The values of ``scale``'s dtype that the integers ``x`` stand for: x * scale / (2 ** (bits - 1) - 1).

    x is of any dtype; with ``only_observer`` the result is x itself. ``scale``, ``quant_axis`` and
    ``zero_point`` as in ``quantize_linear``; ``round_type`` and ``is_test`` change nothing.
    """
    if only_observer:
        return x.copy()
    if not 1 <= bit_length <= 16 or quant_axis not in _AXES or round_type not in (0, 1):
        raise ValueError("attributes do not fit")  # inference explains which
    beside = levels.beside(scale, x, quant_axis)
    return levels.to_values(x.astype(scale.dtype, copy=False), beside, bit_length)
