"""Loss scaling: gradients divided by the scale where all are finite, and the scale of the next step."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import DTypeError
from engine.core.operators.bounds import Number
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.values.dtype import bool_
from engine.core.values.spec import Spec


def _infer_check(x: list[Spec], scale: Spec) -> tuple[Spec, ...]:
    for n, spec in enumerate(x):
        require_floating("check_finite_and_unscale", **{f"x[{n}]": spec})
    return (*x, Spec((1,), bool_))


@op(
    "check_finite_and_unscale",
    infer=_infer_check,
    outputs=("outs",),
    output_list="outs",
    slots={"outs": "Out"},
)
def check_finite_and_unscale(xp, x: list, scale):
    """Each x divided by ``scale`` [1], and last whether any holds nan or infinity [1]: then all are zeros."""
    if xp is not np:
        return _unscaled(xp, x, scale)
    found = any(not bool(xp.isfinite(each).all()) for each in x)
    factor = 0.0 if found else 1.0 / float(scale.item())
    made = [xp.zeros_like(each) if found else (each * factor).astype(each.dtype, copy=False) for each in x]
    return [*made, xp.asarray([found])]


def _unscaled(xp: Any, x: list[Any], scale: Any) -> list[Any]:
    """The same on a GPU, where the host does not wait for the result."""
    whole = xp.stack([xp.isfinite(each).all() for each in x]).all() if x else xp.ones((), bool)
    found = xp.logical_not(whole).reshape(1)
    factor = (1.0 / scale.astype(np.float64)).reshape(())
    made = [xp.where(found[0], each.dtype.type(0), each * factor.astype(each.dtype)) for each in x]
    return [*made, found]


def _infer_update(
    found_infinite: Spec, prev_loss_scaling: Spec, in_good_steps: Spec, in_bad_steps: Spec, **_: Any
) -> tuple[Spec, Spec, Spec]:
    if prev_loss_scaling.dtype.name not in ("float32", "float64"):
        raise DTypeError(f"update_loss_scaling: the scale is float32: got {prev_loss_scaling}")
    return prev_loss_scaling, in_good_steps, in_bad_steps


@op(
    "update_loss_scaling",
    infer=_infer_update,
    outputs=("loss_scaling", "out_good_steps", "out_bad_steps"),
    writes={
        "loss_scaling": "prev_loss_scaling",
        "out_good_steps": "in_good_steps",
        "out_bad_steps": "in_bad_steps",
    },
)
def update_loss_scaling(
    xp,
    found_infinite,
    prev_loss_scaling,
    in_good_steps,
    in_bad_steps,
    *,
    incr_every_n_steps: Number = 1000,
    decr_every_n_nan_or_inf: Number = 2,
    incr_ratio=2.0,
    decr_ratio=0.8,
):
    """The next scale [1]: times ``incr_ratio`` after good steps in a row, ``decr_ratio`` after bad ones.

    It stays where it would overflow, and is never less than 1.
    """
    if xp is not np:
        limits = incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio
        _rescaled(xp, found_infinite, prev_loss_scaling, in_good_steps, in_bad_steps, *limits)
        return prev_loss_scaling, in_good_steps, in_bad_steps
    if bool(found_infinite.any()):
        in_good_steps[...] = 0
        in_bad_steps += 1
        if int(in_bad_steps.item()) == decr_every_n_nan_or_inf:
            prev_loss_scaling[...] = max(float(prev_loss_scaling.item()) * decr_ratio, 1.0)
            in_bad_steps[...] = 0
    else:
        in_bad_steps[...] = 0
        in_good_steps += 1
        if int(in_good_steps.item()) == incr_every_n_steps:
            grown = prev_loss_scaling * prev_loss_scaling.dtype.type(incr_ratio)
            if bool(xp.isfinite(grown).all()):
                prev_loss_scaling[...] = grown
            in_good_steps[...] = 0
    return prev_loss_scaling, in_good_steps, in_bad_steps


def _rescaled(
    xp: Any, found: Any, scale: Any, good: Any, bad: Any, every: int, after: int, up: float, down: float
) -> None:
    """The same on a GPU: all cases are computed, and one is chosen there."""
    found = found.any()
    good[...] = xp.where(found, 0, good + 1)
    bad[...] = xp.where(found, bad + 1, 0)
    grows, shrinks = good == every, bad == after
    kind = scale.dtype.type
    grown = scale * kind(up)
    grown = xp.where(xp.isfinite(grown), grown, scale)
    lower = xp.maximum((scale.astype(np.float64) * down).astype(scale.dtype), kind(1))
    scale[...] = xp.where(grows, grown, xp.where(shrinks, lower, scale))
    good[...] = xp.where(grows, 0, good)
    bad[...] = xp.where(shrinks, 0, bad)
