"""Quantization by the largest absolute value of the current input: of all values, or of each channel.

``fake_quantize_...`` gives the integers, ``fake_quantize_dequantize_...`` the values that they represent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.operators.bounds import Bits
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.quantization import levels

_WRITES_SCALE: dict[str, Any] = {"writes": {"out_scale": "kept"}, "slots": {"kept": "OutScale"}}


def _infer(where: str) -> Callable[..., Any]:
    def infer(x: Spec, kept: Spec | None, *, bit_length: int, round_type: int, **_: Any) -> tuple[Spec, ...]:
        require_floating(where, x=x)
        levels.require_levels(where, bit_length, round_type)
        if kept is not None:
            levels.require_thresholds(where, "out_scale", kept, x, -1, (-1,))
        return x, kept or Spec((1,), x.dtype)

    return infer


def _infer_channels(where: str) -> Callable[..., Any]:
    def infer(
        x: Spec,
        kept: Spec | None,
        *,
        bit_length: int,
        round_type: int,
        quant_axis: int,
        is_test: bool = False,
    ) -> tuple[Spec | None, ...]:
        require_floating(where, x=x)
        levels.require_levels(where, bit_length, round_type)
        found = kept or Spec((x.shape[quant_axis] if 0 <= quant_axis < x.ndim else 1,), x.dtype)
        levels.require_thresholds(where, "out_scale", found, x, quant_axis, (0, 1))
        return x, None if is_test and kept is not None else found

    return infer


@op(
    "fake_quantize_abs_max",
    infer=_infer("fake_quantize_abs_max"),
    outputs=("out", "out_scale"),
    **_WRITES_SCALE,
)
def fake_quantize_abs_max(xp, x, kept=None, *, bit_length: Bits = 8, round_type=1):
    """The integers of x, in its dtype, with its largest absolute value as threshold [1], which is given too.

    ``round_type`` as in ``levels.to_integers``. ``kept`` [1] is where the threshold is written, if given.
    """
    threshold = levels.largest_absolute(xp, x)
    out = levels.quantized(xp, x, threshold, -1, bit_length, round_type)
    return out, levels.like_replaced(threshold, kept, x)


@op(
    "fake_quantize_dequantize_abs_max",
    infer=_infer("fake_quantize_dequantize_abs_max"),
    outputs=("out", "out_scale"),
    **_WRITES_SCALE,
)
def fake_quantize_dequantize_abs_max(xp, x, kept=None, *, bit_length: Bits = 8, round_type=1):
    """The values that the integers of ``fake_quantize_abs_max`` represent; the gradient passes straight
    through."""
    threshold = levels.largest_absolute(xp, x)
    out = levels.quantized(xp, x, threshold, -1, bit_length, round_type, back=True)
    return out, levels.like_replaced(threshold, kept, x)


fake_quantize_dequantize_abs_max.grad(x=lambda g: g)


@op(
    "fake_channel_wise_quantize_abs_max",
    infer=_infer_channels("fake_channel_wise_quantize_abs_max"),
    outputs=("out", "out_scale"),
    **_WRITES_SCALE,
)
def fake_channel_wise_quantize_abs_max(
    xp, x, kept=None, *, bit_length: Bits = 8, round_type=1, quant_axis=0, is_test=False
):
    """The integers of x, with the largest absolute value of each channel along axis 0 or 1 as threshold.

    With ``is_test`` the thresholds are those in ``kept`` [channels], if given.
    """
    given = is_test and kept is not None
    threshold = kept if given else levels.channel_thresholds(xp, x, quant_axis)
    out = levels.quantized(xp, x, threshold, quant_axis, bit_length, round_type)
    return out, None if given else levels.like_replaced(threshold, kept, x)


@op(
    "fake_channel_wise_quantize_dequantize_abs_max",
    infer=_infer_channels("fake_channel_wise_quantize_dequantize_abs_max"),
    outputs=("out", "out_scale"),
    **_WRITES_SCALE,
)
def fake_channel_wise_quantize_dequantize_abs_max(
    xp, x, kept=None, *, bit_length: Bits = 8, round_type=1, quant_axis=0
):
    """The values of x after rounding each channel; the gradient passes straight through."""
    threshold = levels.channel_thresholds(xp, x, quant_axis)
    out = levels.quantized(xp, x, threshold, quant_axis, bit_length, round_type, back=True)
    return out, levels.like_replaced(threshold, kept, x)


fake_channel_wise_quantize_dequantize_abs_max.grad(x=lambda g: g)
