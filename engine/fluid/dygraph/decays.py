"""The formulas of fluid's learning rates by step: over numbers in a guard, over Variables in a Program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.tensor import math as tensor_math
from engine.tensor.creation import full
from engine.tensor.elementwise.exponential import exp
from engine.tensor.elementwise.trigonometry import cos
from engine.tensor.math import ceil, floor
from engine.tensor.search import where

__all__ = [
    "cosine",
    "exponential",
    "inverse_time",
    "natural_exp",
    "noam",
    "piecewise",
    "polynomial",
    "warmup",
]


class Numbers:
    """Functions of Python numbers."""

    ceil, cos, exp, floor = math.ceil, math.cos, math.exp, math.floor
    minimum = min

    @staticmethod
    def where(condition: bool, yes: Any, no: Any) -> Any:
        return yes if condition else no


class Values:
    """The same functions of Variables."""

    ceil, cos, exp, floor = staticmethod(ceil), staticmethod(cos), staticmethod(exp), staticmethod(floor)
    minimum = staticmethod(tensor_math.minimum)

    @staticmethod
    def where(condition: Any, yes: Any, no: Any) -> Any:
        return where(condition, _like(yes, condition), _like(no, condition))


def exponential(
    f: Any, step: Any, learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: bool
) -> Any:
    """``learning_rate * decay_rate ** (step / decay_steps)``."""
    return learning_rate * decay_rate ** _share(f, step, decay_steps, staircase)


def natural_exp(
    f: Any, step: Any, learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: bool
) -> Any:
    """``learning_rate * exp(-decay_rate * step / decay_steps)``."""
    return learning_rate * f.exp(-1 * decay_rate * _share(f, step, decay_steps, staircase))


def inverse_time(
    f: Any, step: Any, learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: bool
) -> Any:
    """``learning_rate / (1 + decay_rate * step / decay_steps)``."""
    return learning_rate / (1 + decay_rate * _share(f, step, decay_steps, staircase))


def polynomial(
    f: Any, step: Any, learning_rate: Any, decay_steps: Any, end_learning_rate: Any, power: Any, cycle: bool
) -> Any:
    """From ``learning_rate`` down to ``end_learning_rate`` in ``decay_steps``; anew with ``cycle``."""
    length = decay_steps
    if cycle:
        length = decay_steps * f.where(step == 0, 1.0, f.ceil(step / float(decay_steps)))
    else:
        step = f.minimum(step, _as(f, float(decay_steps), step))
    return (learning_rate - end_learning_rate) * (1 - step / length) ** power + end_learning_rate


def cosine(f: Any, step: Any, learning_rate: Any, step_each_epoch: Any, epochs: Any) -> Any:
    """Half a cosine over ``epochs``, one value for each epoch of ``step_each_epoch`` steps."""
    epoch = f.floor(step / step_each_epoch)
    return learning_rate * 0.5 * (f.cos(epoch * math.pi / epochs) + 1)


def noam(f: Any, step: Any, learning_rate: Any, d_model: Any, warmup_steps: Any) -> Any:
    """``learning_rate * d_model ** -0.5 * min(step ** -0.5, step * warmup_steps ** -1.5)``."""
    return learning_rate * d_model**-0.5 * f.minimum(step**-0.5, warmup_steps**-1.5 * step)


def piecewise(f: Any, step: Any, boundaries: Sequence[Any], values: Sequence[Any]) -> Any:
    """``values[i]`` with the first i whose boundary is above ``step``, else the last one."""
    found = values[-1]
    for boundary, value in zip(reversed(boundaries), reversed(values[:-1]), strict=True):
        found = f.where(step < boundary, value, found)
    return found


def warmup(f: Any, step: Any, learning_rate: Any, warmup_steps: Any, start_lr: Any, end_lr: Any) -> Any:
    """In a line from ``start_lr`` to ``end_lr`` within ``warmup_steps``, then ``learning_rate``."""
    line = start_lr + (end_lr - start_lr) * (step / warmup_steps)
    return f.where(step < warmup_steps, line, learning_rate)


def _share(f: Any, step: Any, decay_steps: Any, staircase: bool) -> Any:
    share = step / decay_steps
    return f.floor(share) if staircase else share


def _as(f: Any, value: float, like: Any) -> Any:
    return value if f is Numbers else _like(value, like)


def _like(value: Any, like: Any) -> Any:
    """A number as a float32 Variable of the shape that ``like`` has; Variables as they are."""
    if not isinstance(value, (int, float)):
        return value
    return full(list(like.shape), float(value), "float32")
