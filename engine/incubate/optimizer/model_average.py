"""ModelAverage: the mean of the parameters over the last steps, for prediction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ModeError
from engine.ops.training import averages
from engine.optimizer.optimizer import Optimizer
from engine.program.graph.program import Program
from engine.program.run.executor import Executor, default_main_program
from engine.program.run.scope import give_value, value_of
from engine.tensor.tensor_like import AnyTensor

_SUMS = ("sum_1", "sum_2", "sum_3")
_COUNTS = ("num_accumulates", "old_num_accumulates", "num_updates")


class ModelAverage(Optimizer):
    """Adds up the parameters after each step; ``apply`` puts their mean in their place for a while.

    The window of steps that counts is at least ``min_average_window`` long, and ends when it has
    ``average_window_rate`` times all updates, or ``max_average_window``. The last full window and the current
    one are averaged.

    Args:
        average_window_rate: the length of the window as a share of all updates.
        parameters: whose mean is kept; in static mode all of the main Program by default, to which the sums
            are appended at once, so create it after ``minimize``.
        min_average_window: the least length.
        max_average_window: the greatest one.
        name: part of the names of its state.
    """

    _slots = (*_SUMS, *_COUNTS)

    def __init__(
        self,
        average_window_rate: float,
        parameters: Iterable[Any] | None = None,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        name: str | None = None,
    ) -> None:
        self.average_window = average_window_rate
        self.min_average_window = min_average_window
        self.max_average_window = max_average_window
        self.type = "average_accumulates"
        self._replaced: dict[str, Any] = {}
        static = modes.is_static()
        if static and not parameters:
            parameters = default_main_program().global_block().all_parameters()
        super().__init__(learning_rate=0.0, parameters=parameters, name=name)
        if static:
            pairs = [(parameter, parameter) for parameter in self._all()]
            self._static.apply(default_main_program(), pairs)

    def _first(self, parameter: Any, options: dict[str, Any]) -> Any:
        sums = {slot: (tuple(parameter.shape), 0.0) for slot in _SUMS}
        return {**sums, **dict.fromkeys(_COUNTS, ((1,), 0.0))}

    def _update(
        self, target: Any, gradient: Any, rate: Any, state: Any, options: Any, decay: Any, parameter: Any
    ) -> None:
        averages.average_accumulates(
            target,
            *state,
            average_window=float(self.average_window),
            max_average_window=int(self.max_average_window),
            min_average_window=int(self.min_average_window),
        )

    def minimize(
        self,
        loss: AnyTensor,
        startup_program: Program | None = None,
        parameters: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
    ) -> Any:
        """Eagerly the same as ``step``; in static mode nothing is to be done. Returns None."""
        if not modes.is_static():
            self.step()

    @contextmanager
    def apply(self, executor: Executor | None = None, need_restore: bool = True) -> Iterator[None]:
        """Within the block the parameters have their mean; afterwards their values again.

        ``executor`` is needed in static mode. ``need_restore=False`` leaves the mean; ``restore`` ends it.
        """
        self._require(executor)
        for parameter in self._all():
            state = self._state_of_average(parameter)
            if state is None:
                continue
            found = dict(zip(self._slots, map(_array, state), strict=True))
            count = (found["num_accumulates"] + found["old_num_accumulates"]).astype(np.float32)
            total = sum(found[slot] for slot in _SUMS).astype(np.float32)
            self._replaced[parameter.name] = _array(parameter).copy()
            _give(parameter, total / count)
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Executor | None = None) -> None:
        """Give the parameters the values that they had before ``apply``."""
        self._require(executor)
        for parameter in self._all():
            if parameter.name in self._replaced:
                _give(parameter, self._replaced.pop(parameter.name))

    def _state_of_average(self, parameter: Any) -> Any:
        if modes.is_symbolic(parameter):
            return self._static.states.get(id(parameter))
        return self._memory.states.get(parameter)

    def _require(self, executor: Any) -> None:
        if executor is None and modes.is_static():
            raise ModeError(
                "ModelAverage: Executor should not be None in static graph mode. pass the Executor"
            )


def _array(value: Any) -> Any:
    return np.asarray(value_of(value)) if modes.is_symbolic(value) else value.numpy()


def _give(parameter: Any, array: Any) -> None:
    if modes.is_symbolic(parameter):
        give_value(parameter, array.astype(parameter.dtype.np))
    else:
        parameter.set_value(array.astype(parameter._array.dtype))
