"""Quantization by a threshold that follows training: the largest absolute value of the last steps."""

from __future__ import annotations

from engine.core.errors import ArgumentError, ShapeError
from engine.core.infer import require_floating, require_integers
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.quantization import levels

_WHERE = "fake_quantize_range_abs_max"


def _infer(
    x: Spec, in_scale: Spec, iteration: Spec | None, scales: Spec | None, *, window_size: int,
    bit_length: int, round_type: int, is_test: bool,
) -> tuple[Spec | None, ...]:  # fmt: skip
    require_floating(_WHERE, x=x)
    levels.require_levels(_WHERE, bit_length, round_type)
    levels.require_thresholds(_WHERE, "in_scale", in_scale, x, -1, (-1,))
    if is_test:
        return x, None, None
    if iteration is None or scales is None:
        raise ArgumentError(
            f"{_WHERE}: iter and out_scales are missing; training needs them, is_test does not"
        )
    require_integers(_WHERE, iter=iteration)
    if scales.size not in (window_size, -1):
        raise ShapeError(f"{_WHERE}: out_scales holds window_size {window_size} thresholds: got {scales}")
    return x, in_scale, scales


@op(
    _WHERE,
    infer=_infer,
    outputs=("out", "out_scale", "out_scales"),
    writes={"out_scale": "in_scale", "out_scales": "scales"},
    slots={"iteration": "Iter", "scales": "OutScales"},
)
def fake_quantize_range_abs_max(
    xp, x, in_scale, iteration=None, scales=None, *, window_size=10000, bit_length=8, round_type=1,
    is_test=False,
):  # fmt: skip
    """The integers of x, with the largest absolute value of the last ``window_size`` steps as threshold [1].

    ``scales`` [window_size] is a ring of what the steps had, and ``iteration`` [1] the number of steps before
    this one, which the caller counts. As in Paddle the ring is searched only where the value that leaves it
    was the threshold. With ``is_test`` the threshold is ``in_scale`` and nothing is written.
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
