"""Optimizers of fluid that wrap another one: ``LookaheadOptimizer`` and ``RecomputeOptimizer``."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.errors import ConditionError, ModeError
from engine.core.values.spec import Spec
from engine.incubate.optimizer.recompute import RecomputeOptimizer
from engine.nn.initializer import Constant
from engine.nn.initializer.startup import initialize
from engine.ops.arrays import shape
from engine.ops.training import averages
from engine.program.build.annotate import marked
from engine.program.build.by_slot import append_into
from engine.program.graph.program import OPTIMIZE
from engine.program.run.executor import default_startup_program, program_guard

__all__ = ["LookaheadOptimizer", "RecomputeOptimizer"]


class LookaheadOptimizer:
    """``inner_optimizer`` explores, a slow copy of the parameters follows every ``k`` steps; in static mode.

    The slow copy begins with the first values of the parameters. Every ``k`` steps it goes ``alpha`` of the
    way to them, and they go back to it. Zhang et al., Lookahead optimizer: k steps forward, 1 step back
    (2019). Raises ConditionError for arguments out of range, ModeError in a guard.
    """

    def __init__(self, inner_optimizer: Any, alpha: float = 0.5, k: int = 5) -> None:
        if inner_optimizer is None:
            raise ConditionError("LookaheadOptimizer: inner optimizer can not be None")
        if not 0.0 <= alpha <= 1.0:
            raise ConditionError(f"LookaheadOptimizer: alpha should be 0 to 1: got {alpha}")
        if not isinstance(k, int) or k <= 0:
            raise ConditionError(f"LookaheadOptimizer: k should be a positive integer: got {k!r}")
        self.inner_optimizer = inner_optimizer
        self.alpha = alpha
        self.k = k
        self.type = "lookahead"

    def minimize(self, loss: Any, startup_program: Any = None) -> Any:
        """``minimize`` of the inner optimizer, then a step of the slow copies of all parameters."""
        if not modes.is_symbolic(loss):
            raise ModeError(
                "LookaheadOptimizer.minimize: In dygraph, don't support LookaheadOptimizer; use "
                "paddle.incubate.LookAhead"
            )
        made = self.inner_optimizer.minimize(loss, startup_program=startup_program)
        startup, main = startup_program or default_startup_program(), loss.block.program
        with program_guard(main, startup), marked(op_role=OPTIMIZE):
            for parameter in main.global_block().all_parameters():
                slow = _persistable(main, f"{parameter.name}@SLOW", parameter.spec)
                _begin_as(startup, parameter, slow)
                # The operator would begin the slow copy at step 1, which this count never has.
                step = _persistable(main, f"{parameter.name}@SLOW_STEP", Spec((1,), "int64"))
                initialize(step, Constant(self.k), startup)
                averages.lookahead(parameter, slow, step, alpha=float(self.alpha), k=self.k)
        return made


def _persistable(program: Any, name: str, spec: Spec) -> Any:
    return program.global_block().create_var(name, spec, persistable=True, stop_gradient=True)


def _begin_as(startup: Any, parameter: Any, slow: Any) -> None:
    block = startup.global_block()
    twin = _persistable(startup, slow.name, slow.spec)
    append_into(block, shape.assign.opdef, (block.var(parameter.name),), {}, (twin,))
