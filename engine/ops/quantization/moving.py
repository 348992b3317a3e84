"""Quantization by a threshold that follows training: a moving average, or the largest value of some steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Bits, Size
from engine.core.operators.infer import require_floating, require_integers
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.spec import Spec
from engine.ops.quantization import levels

RATE = 0.9
_OUTPUTS = ("out", "out_scale", "out_state", "out_accum")
_STATE = {"out_state": "in_state", "out_accum": "in_accum"}


def averaged(xp: ArrayModule, x: Array, state: Array, accum: Array, rate: float) -> tuple[Any, Any, Any]:
    """Threshold, state and accum after ``x``: state = rate * state + 1, accum = rate * accum + max |x|.

    The threshold is accum / state. All are [1], of the dtypes of x and of the two that are given.
    """
    kind = x.dtype.type
    counted = kind(rate) * state.astype(x.dtype, copy=False) + kind(1)
    summed = kind(rate) * accum.astype(x.dtype, copy=False) + levels.largest_absolute(xp, x)
    return summed / counted, counted.astype(state.dtype, copy=False), summed.astype(accum.dtype, copy=False)


def require_state(where: str, in_accum: Spec | None, in_state: Spec | None) -> None:
    """Raise if an input for training is missing or is not one number."""
    for name, spec in (("in_accum", in_accum), ("in_state", in_state)):
        if spec is None:
            raise ArgumentError(f"{where}: {name} [1] is missing, which training needs; or set is_test")
        if spec.size not in (1, -1):
            raise ShapeError(f"{where}: {name} is one number, shape [1]: got {spec}")


def _infer(where: str) -> Callable[..., Any]:
    def infer(
        x: Spec,
        in_scale: Spec,
        in_accum: Spec | None,
        in_state: Spec | None,
        *,
        bit_length: int,
        round_type: int,
        is_test: bool,
        **_: Any,
    ) -> tuple[Spec | None, ...]:
        require_floating(where, x=x)
        levels.require_levels(where, bit_length, round_type)
        levels.require_thresholds(where, "in_scale", in_scale, x, -1, (-1,))
        if is_test:
            return x, None, None, None
        require_state(where, in_accum, in_state)
        return x, in_scale, in_state, in_accum

    return infer


def _followed(
    xp: Any, x: Any, in_scale: Any, in_accum: Any, in_state: Any, moving_rate: float, is_test: bool
) -> tuple[Any, Any, Any, Any]:
    """The threshold to use; and the values to write: threshold, state and accum, None in a test."""
    if is_test:
        return in_scale, None, None, None
    work = x.astype(levels.working(x.dtype), copy=False)
    threshold, state, accum = averaged(xp, work, in_state, in_accum, moving_rate)
    return threshold, levels.like_replaced(threshold, in_scale, x), state, accum


@op(
    "fake_quantize_moving_average_abs_max",
    infer=_infer("fake_quantize_moving_average_abs_max"),
    outputs=_OUTPUTS,
    writes={"out_scale": "in_scale", **_STATE},
)
def fake_quantize_moving_average_abs_max(
    xp,
    x,
    in_scale,
    in_accum=None,
    in_state=None,
    *,
    moving_rate=RATE,
    bit_length: Bits = 8,
    round_type=1,
    is_test=False,
):
    """The integers of x, in its dtype; the threshold [1] is the moving average of its largest absolute value.

    The new threshold, state and accum [1] are written over the old ones (see ``averaged``). With ``is_test``
    the threshold is ``in_scale`` and nothing is written. ``round_type`` as in ``fake_quantize_abs_max``.
    """
    used, *written = _followed(xp, x, in_scale, in_accum, in_state, moving_rate, is_test)
    return levels.quantized(xp, x, used, -1, bit_length, round_type), *written


@op(
    "fake_quantize_dequantize_moving_average_abs_max",
    infer=_infer("fake_quantize_dequantize_moving_average_abs_max"),
    outputs=_OUTPUTS,
    writes={"out_scale": "in_scale", **_STATE},
)
def fake_quantize_dequantize_moving_average_abs_max(
    xp,
    x,
    in_scale,
    in_accum=None,
    in_state=None,
    *,
    moving_rate=RATE,
    bit_length: Bits = 8,
    round_type=1,
    is_test=False,
):
    """The values of x after rounding to levels of the moving threshold.

    All as in ``fake_quantize_moving_average_abs_max``; the gradient passes straight through.
    """
    used, *written = _followed(xp, x, in_scale, in_accum, in_state, moving_rate, is_test)
    return levels.quantized(xp, x, used, -1, bit_length, round_type, back=True), *written


fake_quantize_dequantize_moving_average_abs_max.grad(x=lambda g: g)


def _infer_observer(
    x: Spec, in_accum: Spec | None, in_state: Spec | None, kept: Spec | None, *, is_test: bool, **_: Any
) -> tuple[Spec | None, ...]:
    where = "moving_average_abs_max_scale"
    require_floating(where, x=x)
    if kept is not None:
        levels.require_thresholds(where, "out_scale", kept, x, -1, (-1,))
    if is_test:
        return x, None, None, None
    require_state(where, in_accum, in_state)
    return x, kept or Spec((1,), x.dtype), in_state, in_accum


@op(
    "moving_average_abs_max_scale",
    infer=_infer_observer,
    outputs=_OUTPUTS,
    writes={"out_scale": "kept", **_STATE},
    slots={"kept": "OutScale"},
)
def moving_average_abs_max_scale(
    xp, x, in_accum=None, in_state=None, kept=None, *, moving_rate=RATE, is_test=False
):
    """x as it is; outside a test its moving threshold [1] is found, and written to ``kept`` [1] if given."""
    if is_test:
        return x.copy(), None, None, None
    _, *written = _followed(xp, x, kept, in_accum, in_state, moving_rate, is_test)
    return x.copy(), *written


moving_average_abs_max_scale.grad(x=lambda g: g)


_WINDOW = "fake_quantize_range_abs_max"


def _infer_window(
    x: Spec,
    in_scale: Spec,
    iteration: Spec | None,
    scales: Spec | None,
    *,
    window_size: int,
    bit_length: int,
    round_type: int,
    is_test: bool,
) -> tuple[Spec | None, ...]:
    require_floating(_WINDOW, x=x)
    levels.require_levels(_WINDOW, bit_length, round_type)
    levels.require_thresholds(_WINDOW, "in_scale", in_scale, x, -1, (-1,))
    if is_test:
        return x, None, None
    if iteration is None or scales is None:
        raise ArgumentError(
            f"{_WINDOW}: iter and out_scales are missing; training needs them, is_test does not"
        )
    require_integers(_WINDOW, iter=iteration)
    if scales.size not in (window_size, -1):
        raise ShapeError(f"{_WINDOW}: out_scales holds window_size {window_size} thresholds: got {scales}")
    return x, in_scale, scales


@op(
    _WINDOW,
    infer=_infer_window,
    outputs=("out", "out_scale", "out_scales"),
    writes={"out_scale": "in_scale", "out_scales": "scales"},
    slots={"iteration": "Iter", "scales": "OutScales"},
)
def fake_quantize_range_abs_max(
    xp,
    x,
    in_scale,
    iteration=None,
    scales=None,
    *,
    window_size: Size = 10000,
    bit_length: Bits = 8,
    round_type=1,
    is_test=False,
):
    """The integers of x, with the largest absolute value of the last ``window_size`` steps as threshold [1].

    ``scales`` [window_size] is a ring of the scales of the steps, and ``iteration`` [1] the number of steps
    before this one, which the caller counts. As in Paddle the ring is searched only where the value that
    leaves it was the threshold. With ``is_test`` the threshold is ``in_scale`` and nothing is written.
    """
    if is_test:
        return levels.quantized(xp, x, in_scale, -1, bit_length, round_type), None, None
    ring, step = scales.copy().reshape(-1), int(iteration.item())
    place = step % window_size
    left, now = float(ring[place]), float(levels.largest_absolute(xp, x)[0])
    ring[place] = now
    most = float(in_scale.reshape(-1)[0])
    if most < now:
        most = now
    elif abs(left - most) < 1e-6:
        most = float(levels.largest_absolute(xp, ring[: max(min(step, window_size), 1)])[0])
    used = xp.asarray([most], dtype=in_scale.dtype)
    out = levels.quantized(xp, x, used, -1, bit_length, round_type)
    return out, used.reshape(in_scale.shape), ring.reshape(scales.shape)
