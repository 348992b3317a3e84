"""Learning rates that fall by step: objects that count in a guard, operators of a Program in static mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from engine.core import mode as modes
from engine.core.values.spec import Spec
from engine.fluid.dygraph import decays
from engine.fluid.dygraph import learning_rate_scheduler as counting
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.dygraph.decays import Values
from engine.fluid.renamed.functions import functions, row
from engine.fluid.values.variable import result
from engine.nn.initializer import Constant
from engine.nn.initializer.startup import initialize
from engine.ops.elementwise import arithmetic
from engine.ops.training import parameter_updates as updates
from engine.program.build.annotate import marked
from engine.program.build.builder import current_builder
from engine.program.graph.program import LR_SCHEDULE
from engine.static.nn.helper import require_static
from engine.tensor.creation import full
from engine.tensor.math import cast

# The counters of each guard, by name.
_of_guards: WeakKeyDictionary[tracers.Tracer, dict[str, int]] = WeakKeyDictionary()
_COUNTER = "@LR_DECAY_COUNTER@"


def autoincreased_step_counter(counter_name: str | None = None, begin: int = 1, step: int = 1) -> Any:
    """An int64 Variable [1] of the Program that counts its runs: from ``begin`` on, by ``step``.

    All calls with the same name share one counter, which counts each run once; in a guard each call.
    """
    tracer = tracers.current()
    if tracer is not None and current_builder() is None:
        counters = _of_guards.setdefault(tracer, {})
        key = counter_name or "@STEP_COUNTER@"
        counters[key] = counters.get(key, begin - step) + step
        return result(full([1], counters[key], "int64"))
    builder = require_static("autoincreased_step_counter")
    block, name = builder.program.global_block(), counter_name or "@STEP_COUNTER@"
    found = block.vars.get(name)
    if found is None:
        assert builder.startup is not None, "require_static refuses a Builder without one"
        found = block.create_var(name, Spec((1,), "int64"), persistable=True, stop_gradient=True)
        initialize(found, Constant(begin - step), builder.startup)
        with marked(op_role=LR_SCHEDULE):
            updates.assign_into(found, arithmetic.scale(found, bias=float(step)))
    return found


def _decay_step_counter(begin: int = 0) -> Any:
    return cast(autoincreased_step_counter(_COUNTER, begin), "float32")


def piecewise_decay(boundaries: Sequence[int], values: Sequence[float]) -> Any:
    """``values[i]`` with the first i whose boundary is above the step, else the last value.

    Raises ArgumentError unless there is one value more than boundaries.
    """
    if not modes.is_static():
        return counting.PiecewiseDecay(boundaries, values)
    counting.check_pieces(boundaries, values)
    return _appended(decays.piecewise, list(boundaries), list(values))


def linear_lr_warmup(learning_rate: Any, warmup_steps: int, start_lr: float, end_lr: float) -> Any:
    """In a line from ``start_lr`` to ``end_lr`` within ``warmup_steps``, then ``learning_rate``.

    ``learning_rate`` is a number, or what one of the decays gave.
    """
    if not modes.is_static():
        return counting.LinearLrWarmup(learning_rate, warmup_steps, start_lr, end_lr)
    return _appended(decays.warmup, learning_rate, warmup_steps, float(start_lr), float(end_lr))


def _appended(formula: Callable[..., Any], *arguments: Any, begin: int = 0, **named: Any) -> Any:
    """The Variable [1] that operators of the Program compute by ``formula`` of the number of its runs."""
    counter = autoincreased_step_counter(_COUNTER, begin)
    with marked(op_role=LR_SCHEDULE):
        rate = formula(Values, cast(counter, "float32"), *arguments, **named)
    rate.stop_gradient = True
    return rate


def _in_either_mode(
    counting_rate: type[counting.LearningRateDecay], formula: Callable[..., Any], begin: int = 0
) -> Callable[..., Any]:
    """A function of the arguments of ``formula``: the Variable of a Program, or in a guard an object."""

    def decay(**arguments: Any) -> Any:
        if not modes.is_static():
            return counting_rate(**arguments)
        return _appended(formula, begin=begin, **arguments)

    return decay


_SHRINKING = "learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False"
# fmt: off
ROWS = (
    row("noam_decay", _in_either_mode(counting.NoamDecay, decays.noam, begin=1),
        "d_model: float, warmup_steps: int, learning_rate: float = 1.0",
        "``learning_rate * d_model ** -0.5 * min(step ** -0.5, step * warmup_steps ** -1.5)``, from step 1.",
        as_is=True),
    row("exponential_decay", _in_either_mode(counting.ExponentialDecay, decays.exponential), _SHRINKING,
        "``learning_rate * decay_rate ** (step / decay_steps)``; whole quotients with ``staircase``.",
        as_is=True),
    row("natural_exp_decay", _in_either_mode(counting.NaturalExpDecay, decays.natural_exp), _SHRINKING,
        "``learning_rate * exp(-decay_rate * step / decay_steps)``; whole quotients with ``staircase``.",
        as_is=True),
    row("inverse_time_decay", _in_either_mode(counting.InverseTimeDecay, decays.inverse_time), _SHRINKING,
        "``learning_rate / (1 + decay_rate * step / decay_steps)``; whole quotients with ``staircase``.",
        as_is=True),
    row("polynomial_decay", _in_either_mode(counting.PolynomialDecay, decays.polynomial),
        "learning_rate: float, decay_steps: int, end_learning_rate: float = 0.0001, power: float = 1.0, "
        "cycle: bool = False",
        "From ``learning_rate`` down to ``end_learning_rate`` in ``decay_steps``; anew with ``cycle``.",
        as_is=True),
    row("cosine_decay", _in_either_mode(counting.CosineDecay, decays.cosine),
        "learning_rate: float, step_each_epoch: int, epochs: int",
        "Half a cosine over ``epochs``, one value for each epoch of ``step_each_epoch`` steps.", as_is=True),
)
# fmt: on
globals().update(functions(ROWS, __name__))
