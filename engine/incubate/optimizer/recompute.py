"""``RecomputeOptimizer``: an optimizer of a Program whose backward keeps few values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ConditionError, ModeError
from engine.program.backward.append_backward import with_checkpoints
from engine.program.graph.program import Program
from engine.program.run.executor import default_startup_program, program_guard
from engine.tensor.tensor_like import AnyTensor


class ProgramOptimizer(Protocol):
    """An optimizer of a Program, or a wrapper of one."""

    def backward(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]: ...
    def apply_gradients(self, params_grads: list[tuple[Any, Any]], /) -> Any: ...
    def minimize(self, *args: Any, **kwargs: Any) -> tuple[list[Any], list[tuple[Any, Any]]]: ...


class RecomputeOptimizer:
    """The optimizer that it wraps; backward keeps the checkpoints and computes again what lies between them.

    It is used in static mode, see ``append_backward``. Raises ConditionError where ``_set_checkpoints`` was
    not called.
    """

    def __init__(self, optimizer: ProgramOptimizer) -> None:
        self._optimizer = optimizer
        self._checkpoints: list[Any] | None = None

    def _set_checkpoints(self, checkpoints: Any) -> None:
        if not isinstance(checkpoints, list):
            raise ArgumentError(
                f"RecomputeOptimizer: _checkpoints should be a list of Variables: got {checkpoints!r}"
            )
        self._checkpoints = checkpoints

    def backward(
        self,
        loss: AnyTensor,
        startup_program: Program | None = None,
        parameter_list: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
        callbacks: object = None,
    ) -> list[tuple[Any, Any]]:
        """Pairs of parameter and gradient."""
        self._check(loss)
        with with_checkpoints(self._checkpoints):
            return self._optimizer.backward(loss, startup_program, parameter_list, no_grad_set, callbacks)

    def apply_gradients(self, params_grads: list[tuple[Any, Any]]) -> Any:
        """Update parameters with their paired gradients."""
        return self._optimizer.apply_gradients(params_grads)

    def apply_optimize(
        self, loss: AnyTensor, startup_program: Program | None, params_grads: list[tuple[Any, Any]]
    ) -> Any:
        """``apply_gradients`` in the Program of ``loss``."""
        with program_guard(loss.block.program, startup_program or default_startup_program()):
            return self.apply_gradients(params_grads)

    def minimize(
        self,
        loss: AnyTensor,
        startup_program: Program | None = None,
        parameter_list: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Backward and update; what was appended, and the pairs."""
        self._check(loss)
        with with_checkpoints(self._checkpoints):
            return self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)

    def _check(self, loss: Any) -> None:
        if not modes.is_symbolic(loss):
            raise ModeError(
                "RecomputeOptimizer: DyGraph current does not support recompute; use the optimizer it wraps"
            )
        if self._checkpoints is None:
            raise ConditionError("RecomputeOptimizer: You should call _set_checkpoints first")
