"""Learning rates that fall by step: objects that count in a guard, operators of a Program in static mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core import mode as modes
from engine.core.spec import Spec
from engine.fluid import decays
from engine.fluid.decays import Values
from engine.fluid.dygraph import learning_rate_scheduler as counting
from engine.nn.initializer import Constant
from engine.nn.initializer.startup import initialize
from engine.ops.elementwise import arithmetic
from engine.ops.training import parameter_updates as updates
from engine.program.build.annotate import marked
from engine.program.passes.clone import LR_SCHEDULE
from engine.static.nn.helper import require_static
from engine.tensor.math import cast

_COUNTER = "@LR_DECAY_COUNTER@"


def autoincreased_step_counter(counter_name: str | None = None, begin: int = 1, step: int = 1) -> Any:
    """An int64 Variable [1] of the Program that counts its runs: from ``begin`` on, by ``step``.

    All calls with the same name share one counter, which counts each run once. Raises ModeError in a guard.
    """
    builder = require_static("autoincreased_step_counter")
    block, name = builder.program.global_block(), counter_name or "@STEP_COUNTER@"
    found = block.vars.get(name)
    if found is None:
        found = block.create_var(name, Spec((1,), "int64"), persistable=True, stop_gradient=True)
        initialize(found, Constant(begin - step), builder.startup)
        with marked(op_role=LR_SCHEDULE):
            updates.assign_into(found, arithmetic.scale(found, bias=float(step)))
    return found


def _decay_step_counter(begin: int = 0) -> Any:
    return cast(autoincreased_step_counter(_COUNTER, begin), "float32")


def noam_decay(d_model: float, warmup_steps: int, learning_rate: float = 1.0) -> Any:
    """``learning_rate * d_model ** -0.5 * min(step ** -0.5, step * warmup_steps ** -1.5)``, from step 1."""
    if not modes.is_static():
        return counting.NoamDecay(d_model, warmup_steps, learning_rate=learning_rate)
    return _appended(decays.noam, learning_rate, d_model, warmup_steps, begin=1)


def exponential_decay(
    learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False
) -> Any:
    """``learning_rate * decay_rate ** (step / decay_steps)``; whole quotients with ``staircase``."""
    if not modes.is_static():
        return counting.ExponentialDecay(learning_rate, decay_steps, decay_rate, staircase)
    return _appended(decays.exponential, learning_rate, decay_steps, decay_rate, staircase)


def natural_exp_decay(
    learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False
) -> Any:
    """``learning_rate * exp(-decay_rate * step / decay_steps)``; whole quotients with ``staircase``."""
    if not modes.is_static():
        return counting.NaturalExpDecay(learning_rate, decay_steps, decay_rate, staircase)
    return _appended(decays.natural_exp, learning_rate, decay_steps, decay_rate, staircase)


def inverse_time_decay(
    learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False
) -> Any:
    """``learning_rate / (1 + decay_rate * step / decay_steps)``; whole quotients with ``staircase``."""
    if not modes.is_static():
        return counting.InverseTimeDecay(learning_rate, decay_steps, decay_rate, staircase)
    return _appended(decays.inverse_time, learning_rate, decay_steps, decay_rate, staircase)


def polynomial_decay(
    learning_rate: float,
    decay_steps: int,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
) -> Any:
    """From ``learning_rate`` down to ``end_learning_rate`` in ``decay_steps``; anew with ``cycle``."""
    if not modes.is_static():
        return counting.PolynomialDecay(learning_rate, decay_steps, end_learning_rate, power, cycle)
    return _appended(decays.polynomial, learning_rate, decay_steps, end_learning_rate, power, cycle)


def piecewise_decay(boundaries: Sequence[int], values: Sequence[float]) -> Any:
    """``values[i]`` with the first i whose boundary is above the step, else the last value.

    Raises ArgumentError unless there is one value more than boundaries.
    """
    if not modes.is_static():
        return counting.PiecewiseDecay(boundaries, values)
    counting.check_pieces(boundaries, values)
    return _appended(decays.piecewise, list(boundaries), list(values))


def cosine_decay(learning_rate: float, step_each_epoch: int, epochs: int) -> Any:
    """Half a cosine over ``epochs``, one value for each epoch of ``step_each_epoch`` steps."""
    if not modes.is_static():
        return counting.CosineDecay(learning_rate, step_each_epoch, epochs)
    return _appended(decays.cosine, learning_rate, step_each_epoch, epochs)


def linear_lr_warmup(learning_rate: Any, warmup_steps: int, start_lr: float, end_lr: float) -> Any:
    """In a line from ``start_lr`` to ``end_lr`` within ``warmup_steps``, then ``learning_rate``.

    ``learning_rate`` is a number, or what one of the decays gave.
    """
    if not modes.is_static():
        return counting.LinearLrWarmup(learning_rate, warmup_steps, start_lr, end_lr)
    return _appended(decays.warmup, learning_rate, warmup_steps, float(start_lr), float(end_lr))


def _appended(formula: Callable[..., Any], *arguments: Any, begin: int = 0) -> Any:
    """The Variable [1] that operators of the Program compute by ``formula`` of the number of its runs."""
    counter = autoincreased_step_counter(_COUNTER, begin)
    with marked(op_role=LR_SCHEDULE):
        rate = formula(Values, cast(counter, "float32"), *arguments)
    rate.stop_gradient = True
    return rate
