"""Updates of the state that optimizers hold next to the parameters: slow copies, running sums."""

from __future__ import annotations

from typing import Any

from engine.core.operators.bounds import Number, Reserved, Size
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec

_SUM_LENGTH = 16384  # additions to one sum before it is moved on, so that small values still count


def _infer_lookahead(param: Spec, slow: Spec, step: Spec, **_: Any) -> tuple[Spec, Spec, Spec]:
    return param, slow, step


@op(
    "lookahead",
    infer=_infer_lookahead,
    outputs=("param_out", "slow_out", "step_out"),
    writes={"param_out": "param", "slow_out": "slow", "step_out": "step"},
)
def lookahead(xp, param, slow, step, *, alpha, k: Number):
    """Every k steps the slow copy moves ``alpha`` of the way to the parameter, which is reset to it."""
    step += 1
    count = int(step.item())
    if count == 1:
        slow[...] = param
    if count % k == 0:
        mixed = alpha * param + (1.0 - alpha) * slow
        param[...] = mixed
        slow[...] = mixed
    return param, slow, step


def _infer_average(param: Spec, *state: Spec, **_: Any) -> tuple[Spec, ...]:
    return state


@op(
    "average_accumulates",
    infer=_infer_average,
    outputs=(
        "out_sum_1",
        "out_sum_2",
        "out_sum_3",
        "out_num_accumulates",
        "out_old_num_accumulates",
        "out_num_updates",
    ),
    slots={
        name: name
        for base in ("sum_1", "sum_2", "sum_3", "num_accumulates", "old_num_accumulates", "num_updates")
        for name in (f"in_{base}", f"out_{base}")
    }
    | {"param": "param"},
    writes={
        f"out_{base}": f"in_{base}"
        for base in ("sum_1", "sum_2", "sum_3", "num_accumulates", "old_num_accumulates", "num_updates")
    },
)
def average_accumulates(
    xp,
    param,
    in_sum_1,
    in_sum_2,
    in_sum_3,
    in_num_accumulates,
    in_old_num_accumulates,
    in_num_updates,
    *,
    average_window,
    max_average_window: Reserved,
    min_average_window: Size,
):
    """Add the parameter to the sum of a window; a window that is full becomes the old one."""
    in_num_updates += 1
    in_num_accumulates += 1
    in_sum_1 += param
    updates, length = int(in_num_updates.item()), int(in_num_accumulates.item())
    if updates % _SUM_LENGTH == 0:
        in_sum_2 += in_sum_1
        in_sum_1[...] = 0
    if length >= min_average_window and length >= min(max_average_window, int(updates * average_window)):
        in_sum_3[...] = in_sum_1 + in_sum_2
        in_sum_1[...] = 0
        in_sum_2[...] = 0
        in_old_num_accumulates[...] = in_num_accumulates
        in_num_accumulates[...] = 0
    return in_sum_1, in_sum_2, in_sum_3, in_num_accumulates, in_old_num_accumulates, in_num_updates
