"""Optimizers of fluid that wrap another one: ``LookaheadOptimizer`` and ``RecomputeOptimizer``."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ConditionError, ModeError
from engine.core.spec import Spec
from engine.nn.initializer import Constant
from engine.nn.initializer.startup import initialize
from engine.ops.arrays import shape
from engine.ops.training import averages
from engine.program.build.annotate import marked
from engine.program.build.by_slot import append_into
from engine.program.passes.clone import OPTIMIZE
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
                slow = _kept(main, f"{parameter.name}@SLOW", parameter.spec)
                _begin_as(startup, parameter, slow)
                # The operator would begin the slow copy at step 1, which this count never has.
                step = _kept(main, f"{parameter.name}@SLOW_STEP", Spec((1,), "int64"))
                initialize(step, Constant(self.k), startup)
                averages.lookahead(parameter, slow, step, alpha=float(self.alpha), k=self.k)
        return made


def _kept(program: Any, name: str, spec: Spec) -> Any:
    return program.global_block().create_var(name, spec, persistable=True, stop_gradient=True)


def _begin_as(startup: Any, parameter: Any, slow: Any) -> None:
    block = startup.global_block()
    twin = _kept(startup, slow.name, slow.spec)
    append_into(block, shape.assign.opdef, (block.var(parameter.name),), {}, (twin,))


class RecomputeOptimizer:
    """The optimizer that it wraps. Values between checkpoints are kept, so that memory is not saved.

    It is used in static mode. Raises ConditionError where ``_set_checkpoints`` was not called.
    """

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        self._checkpoints: list[Any] | None = None

    def _set_checkpoints(self, checkpoints: Any) -> None:
        if not isinstance(checkpoints, list):
            raise ArgumentError(
                f"RecomputeOptimizer: _checkpoints should be a list of Variables: got {checkpoints!r}"
            )
        self._checkpoints = checkpoints

    def backward(
        self, loss: Any, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> Any:  # fmt: skip
        """Pairs of parameter and gradient."""
        self._check(loss)
        return self._optimizer.backward(loss, startup_program, parameter_list, no_grad_set, callbacks)

    def apply_gradients(self, params_grads: Any) -> Any:
        """Update parameters with their paired gradients."""
        return self._optimizer.apply_gradients(params_grads)

    def apply_optimize(self, loss: Any, startup_program: Any, params_grads: Any) -> Any:
        """``apply_gradients`` in the Program of ``loss``."""
        with program_guard(loss.block.program, startup_program or default_startup_program()):
            return self.apply_gradients(params_grads)

    def minimize(
        self, loss: Any, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> Any:
        """Backward and update; what was appended, and the pairs."""
        self._check(loss)
        return self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)

    def _check(self, loss: Any) -> None:
        if not modes.is_symbolic(loss):
            raise ModeError(
                "RecomputeOptimizer: DyGraph current does not support recompute; use the optimizer it wraps"
            )
        if self._checkpoints is None:
            raise ConditionError("RecomputeOptimizer: You should call _set_checkpoints first")
