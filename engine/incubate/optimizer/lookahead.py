"""Lookahead: another optimizer explores, a slow copy of the parameters follows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ConditionError
from engine.ops.training import averages
from engine.optimizer.optimizer import Optimizer
from engine.program.graph.program import Program
from engine.program.run.executor import default_main_program
from engine.tensor.tensor_like import AnyTensor


class LookAhead(Optimizer):
    """Zhang et al., Lookahead optimizer: k steps forward, 1 step back (2019).

    Args:
        inner_optimizer: makes the steps.
        alpha: how far the slow copy follows the parameters, 0 to 1.
        k: every how many steps it does; the parameters go back to it then.
        name: part of the names of its state.

    Raises:
        ConditionError: no optimizer, or alpha and k out of range.
    """

    _slots = ("slow", "step")

    def __init__(
        self, inner_optimizer: Optimizer, alpha: float = 0.5, k: int = 5, name: str | None = None
    ) -> None:
        if inner_optimizer is None:
            raise ConditionError("LookAhead: inner optimizer can not be None")
        if not 0.0 <= alpha <= 1.0:
            raise ConditionError(f"LookAhead: alpha should be 0 to 1: got {alpha}")
        if not isinstance(k, int) or k <= 0:
            raise ConditionError(f"LookAhead: k should be a positive integer: got {k!r}")
        self.inner_optimizer = inner_optimizer
        self.alpha = alpha
        self.k = k
        self.type = "lookahead"
        parameters = inner_optimizer._all()
        if not parameters and modes.is_static():
            parameters = default_main_program().global_block().all_parameters()
        super().__init__(learning_rate=float(alpha), parameters=parameters, name=name)

    def _first(self, parameter: Any, options: dict[str, Any]) -> Any:
        return {"slow": (tuple(parameter.shape), 0.0), "step": ((1,), 0.0)}

    def _update(
        self, target: Any, gradient: Any, rate: Any, state: Any, options: Any, decay: Any, parameter: Any
    ) -> None:
        averages.lookahead(target, *state, alpha=float(self.alpha), k=self.k)

    def step(self) -> None:
        """A step of the inner optimizer, then of the slow copy."""
        self.inner_optimizer.step()
        super().step()

    def minimize(
        self,
        loss: AnyTensor,
        startup_program: Program | None = None,
        parameters: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """``minimize`` of the inner optimizer, then a step of the slow copy."""
        done = self.inner_optimizer.minimize(loss, startup_program, parameters, no_grad_set)
        if modes.is_symbolic(loss) and modes.current().training is None:
            self._static.apply(loss.block.program, done[1], startup_program)
        else:
            self.apply_gradients(done[1])
        operators, pairs = done
        return operators, pairs
