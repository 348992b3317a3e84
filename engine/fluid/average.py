"""``fluid.average``: a mean of numbers that come one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ConditionError

__all__ = ["WeightedAverage"]


class WeightedAverage:
    """The mean of values by their weights.

    Raises ArgumentError for a value that is neither a number nor an array, ConditionError for the mean of
    nothing.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all values."""
        self.numerator: Any = None
        self.denominator: Any = None

    def add(self, value: Any, weight: Any) -> None:
        """Take ``value``, a number or an array, with ``weight``."""
        numbers = (int, float, np.number, np.ndarray)
        if not isinstance(value, numbers):
            raise ArgumentError(
                "WeightedAverage.add: The 'value' must be a number(int, float) or a numpy ndarray: got "
                f"{type(value).__name__}"
            )
        if not isinstance(weight, numbers):
            raise ArgumentError(
                f"WeightedAverage.add: The 'weight' must be a number(int, float): got {type(weight).__name__}"
            )
        first = self.numerator is None
        self.numerator = value * weight if first else self.numerator + value * weight
        self.denominator = weight if first else self.denominator + weight

    def eval(self) -> Any:
        """The mean."""
        if self.numerator is None or not np.all(self.denominator):
            raise ConditionError(
                "WeightedAverage.eval: There is no data to be averaged in WeightedAverage; add values first"
            )
        return self.numerator / self.denominator
