"""What kind of random variable a transform takes and gives: its constraint, its events' dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.errors import ShapeError, UnsupportedError
from engine.distribution import constraint as constraints
from engine.tensor.manipulation import stack, unstack
from engine.tensor.reductions.reduction import all as every
from engine.tensor.tensor_like import AnyTensor


class Variable:
    """A random variable: discrete or not, with events of ``event_rank`` dimensions, and a constraint."""

    def __init__(
        self,
        is_discrete: bool = False,
        event_rank: int = 0,
        constraint: Callable[[AnyTensor], Any] | None = None,
    ) -> None:
        self._is_discrete = is_discrete
        self._event_rank = event_rank
        self._constraint = constraint

    @property
    def is_discrete(self) -> bool:
        return self._is_discrete

    @property
    def event_rank(self) -> int:
        return self._event_rank

    def constraint(self, value: AnyTensor) -> Any:
        """Which events in ``value`` the variable can take."""
        if self._constraint is None:
            raise UnsupportedError(f"{type(self).__name__}: it was made without a constraint")
        return self._constraint(value)


class Real(Variable):
    """A real number."""

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraints.real)


class Positive(Variable):
    """A number from 0 on."""

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraints.positive)


class Independent(Variable):
    """``base`` with ``reinterpreted_batch_rank`` more dimensions in an event."""

    def __init__(self, base: Variable, reinterpreted_batch_rank: int) -> None:
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)

    def constraint(self, value: AnyTensor) -> Any:
        found = self._base.constraint(value)
        if found.ndim < self._reinterpreted_batch_rank:
            raise ShapeError(
                f"Independent: value needs {self._reinterpreted_batch_rank} dimensions or more: it has "
                f"{found.ndim}"
            )
        axes = list(range(-self._reinterpreted_batch_rank, 0))
        return every(found, axis=axes) if axes else found


class Stack(Variable):
    """Variables stacked along ``axis``."""

    def __init__(self, vars: Sequence[Variable], axis: int = 0) -> None:
        self._vars = vars
        self._axis = axis
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return any(each.is_discrete for each in self._vars)

    @property
    def event_rank(self) -> int:
        rank = max(each.event_rank for each in self._vars)
        return rank + 1 if rank + self._axis < 0 else rank

    def constraint(self, value: AnyTensor) -> Any:
        if not -value.ndim <= self._axis < value.ndim:
            raise ShapeError(f"Stack: axis {self._axis} is not a dimension of value {list(value.shape)}")
        parts = zip(self._vars, unstack(value, self._axis), strict=True)
        return stack([each.constraint(part) for each, part in parts], self._axis)


real = Real()
positive = Positive()
