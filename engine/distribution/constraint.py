"""What values a random variable takes, as questions to tensors."""

from __future__ import annotations

from typing import Any

from engine.core.errors import UnsupportedError
from engine.tensor.math import abs as absolute
from engine.tensor.reductions.reduction import all as every
from engine.tensor.reductions.reduction import sum as total
from engine.tensor.tensor_like import AnyTensor


class Constraint:
    """A set of values; calling it says which elements (or vectors) of a tensor are in it."""

    def __call__(self, value: AnyTensor) -> Any:
        raise UnsupportedError(f"{type(self).__name__}: it does not say what it holds; define __call__")


class Real(Constraint):
    """All numbers but NaN."""

    def __call__(self, value: AnyTensor) -> Any:
        return value == value


class Range(Constraint):
    """The numbers from ``lower`` to ``upper``, both included."""

    def __init__(self, lower: float | AnyTensor, upper: float | AnyTensor) -> None:
        self._lower = lower
        self._upper = upper

    def __call__(self, value: AnyTensor) -> Any:
        return (self._lower <= value) & (value <= self._upper)


class Positive(Constraint):
    """The numbers from 0 on."""

    def __call__(self, value: AnyTensor) -> Any:
        return value >= 0.0


class Simplex(Constraint):
    """Vectors along the last axis of numbers from 0 on that sum to 1."""

    def __call__(self, value: AnyTensor) -> Any:
        return every(value >= 0.0, axis=-1) & (absolute(total(value, axis=-1) - 1.0) < 1e-6)


real = Real()
positive = Positive()
simplex = Simplex()
