"""Reversal of elements along axes, and circular shifts."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, OutOfRangeError
from engine.core.operators import traits
from engine.core.operators.bounds import Count, Number
from engine.core.operators.infer import normal_axes, normal_axis, require_integers
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.elementwise.arithmetic import scale


def _infer_flip(x: Spec, *, axis: Any) -> Spec:
    normal_axes("flip", axis, x.ndim)
    if axis and x.ndim == 0:
        raise OutOfRangeError(f"flip: axis {list(axis)} is out of range for {x}, which has no dimensions")
    return x


@traits.complex_gradient
@op("flip", infer=_infer_flip)
def flip(xp, x, *, axis: Count):
    """x with the elements in reverse order along the axes."""
    return xp.flip(x, tuple(axis)).copy()


flip.grad(x=lambda g, axis: flip(g, axis=axis))


def _infer_roll(x: Spec, *, shifts: Any, axis: Any = ()) -> Spec:
    if axis and len(axis) != len(shifts):
        raise ArgumentError(
            f"roll: {len(shifts)} shifts {list(shifts)} for {len(axis)} axes {list(axis)}; give one for each"
        )
    if not axis and len(shifts) != 1:
        raise ArgumentError(f"roll: without axis there is one shift: got {list(shifts)}; give axis too")
    for a in axis:
        normal_axis("roll", a, x.ndim)
    return x


@traits.complex_gradient
@op("roll", infer=_infer_roll)
def roll(xp, x, *, shifts: Number, axis: Count = ()):
    """Shift elements circularly along the axes; without axis, those of the flattened tensor."""
    _infer_roll(Spec.of(x), shifts=shifts, axis=axis)
    return xp.roll(x, tuple(shifts), tuple(axis)) if len(axis) else xp.roll(x, shifts[0])


roll.grad(x=lambda g, shifts, axis: roll(g, shifts=[-s for s in shifts], axis=axis))


def _infer_roll_by(x: Spec, shifts: Spec, *, axis: Any = ()) -> Spec:
    require_integers("roll", shifts=shifts)
    count = 1 if shifts.ndim == 0 else shifts.shape[0]
    if shifts.ndim > 1 or count not in (-1, len(axis) or 1):
        raise ArgumentError(
            f"roll: shifts {shifts} for {len(axis)} axes {list(axis)}; give a tensor of one number for each"
        )
    for a in axis:
        normal_axis("roll", a, x.ndim)
    return x


@traits.complex_gradient
@op("roll_by", infer=_infer_roll_by, slots={"shifts": "ShiftsTensor"})
def roll_by(xp, x, shifts, *, axis: Count = ()):
    """roll with shifts that are values."""
    _infer_roll_by(Spec.of(x), Spec.of(shifts), axis=axis)
    return roll.opdef.kernel(xp, x, shifts=shifts.reshape(-1).tolist(), axis=axis)


roll_by.grad(x=lambda g, shifts, axis: roll_by(g, scale(shifts, scale=-1.0), axis=axis))
