"""Learning rates that fall by step, as optimizers take them in a guard.

An optimizer calls its rate once in each ``minimize``: the call gives the rate of this step and counts on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ModeError
from engine.eager.tensor import Tensor
from engine.fluid.dygraph import decays
from engine.fluid.dygraph.decays import Numbers
from engine.fluid.values.variable import as_variable

__all__ = [
    "CosineDecay",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LearningRateDecay",
    "LinearLrWarmup",
    "NaturalExpDecay",
    "NoamDecay",
    "PiecewiseDecay",
    "PolynomialDecay",
]


class LearningRateDecay:
    """Base of the rates: a subclass computes the rate of ``self.step_num`` in ``step()``.

    The count begins at ``begin`` and grows by ``step`` in each call.
    """

    def __init__(self, begin: int = 0, step: int = 1, dtype: str = "float32") -> None:
        self.step_num = begin
        self.step_size = step
        self.dtype = dtype

    def __call__(self) -> Any:
        """The rate of this step as a Variable [1]; counts on."""
        rate = self.step()
        if not isinstance(rate, Tensor):
            rate = self.create_lr_var(rate)
        self.step_num += self.step_size
        return rate

    def create_lr_var(self, lr: Any) -> Any:
        """The rate as a Variable [1]."""
        return as_variable(Tensor(np.asarray([lr], self.dtype)))

    def step(self) -> Any:
        """The rate of ``self.step_num``."""
        raise ModeError(
            f"{type(self).__name__}: has no step; define step(self), it gives the rate of step_num"
        )


class _Formula(LearningRateDecay):
    """The rate is a formula of the step."""

    def __init__(
        self, formula: Callable[..., Any], arguments: dict[str, Any], begin: int, step: int, dtype: str
    ) -> None:
        super().__init__(begin, step, dtype)
        self._formula, self._arguments = formula, arguments
        vars(self).update(arguments)

    def step(self) -> float:
        """The rate of ``self.step_num``."""
        return float(self._formula(Numbers, self.step_num, **{k: vars(self)[k] for k in self._arguments}))


class PiecewiseDecay(_Formula):
    """``values[i]`` with the first i whose boundary is above the step, else the last value.

    Raises ArgumentError unless there is one value more than boundaries.
    """

    def __init__(
        self,
        boundaries: Sequence[int],
        values: Sequence[float],
        begin: int = 0,
        step: int = 1,
        dtype: str = "float32",
    ) -> None:
        check_pieces(boundaries, values)
        super().__init__(
            decays.piecewise, {"boundaries": list(boundaries), "values": list(values)}, begin, step, dtype
        )


class _Shrinking(_Formula):
    FORMULA: Callable[..., Any]

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        begin: int = 0,
        step: int = 1,
        dtype: str = "float32",
    ) -> None:
        arguments = {
            "learning_rate": learning_rate,
            "decay_steps": decay_steps,
            "decay_rate": decay_rate,
            "staircase": staircase,
        }
        super().__init__(type(self).FORMULA, arguments, begin, step, dtype)


class NaturalExpDecay(_Shrinking):
    """``learning_rate * exp(-decay_rate * step / decay_steps)``; whole quotients with ``staircase``."""

    FORMULA = staticmethod(decays.natural_exp)


class ExponentialDecay(_Shrinking):
    """``learning_rate * decay_rate ** (step / decay_steps)``; whole quotients with ``staircase``."""

    FORMULA = staticmethod(decays.exponential)


class InverseTimeDecay(_Shrinking):
    """``learning_rate / (1 + decay_rate * step / decay_steps)``; whole quotients with ``staircase``."""

    FORMULA = staticmethod(decays.inverse_time)


class PolynomialDecay(_Formula):
    """From ``learning_rate`` down to ``end_learning_rate`` in ``decay_steps``; anew with ``cycle``."""

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        begin: int = 0,
        step: int = 1,
        dtype: str = "float32",
    ) -> None:
        arguments = {
            "learning_rate": learning_rate,
            "decay_steps": decay_steps,
            "end_learning_rate": end_learning_rate,
            "power": power,
            "cycle": cycle,
        }
        super().__init__(decays.polynomial, arguments, begin, step, dtype)


class CosineDecay(_Formula):
    """Half a cosine over ``epochs``, one value for each epoch of ``step_each_epoch`` steps."""

    def __init__(
        self,
        learning_rate: float,
        step_each_epoch: int,
        epochs: int,
        begin: int = 0,
        step: int = 1,
        dtype: str = "float32",
    ) -> None:
        arguments = {"learning_rate": learning_rate, "step_each_epoch": step_each_epoch, "epochs": epochs}
        super().__init__(decays.cosine, arguments, begin, step, dtype)


class NoamDecay(_Formula):
    """``learning_rate * d_model ** -0.5 * min(step ** -0.5, step * warmup_steps ** -1.5)``."""

    def __init__(
        self,
        d_model: float,
        warmup_steps: int,
        begin: int = 1,
        step: int = 1,
        dtype: str = "float32",
        learning_rate: float = 1.0,
    ) -> None:
        arguments = {"learning_rate": learning_rate, "d_model": d_model, "warmup_steps": warmup_steps}
        super().__init__(decays.noam, arguments, begin, step, dtype)


class LinearLrWarmup(LearningRateDecay):
    """In a line from ``start_lr`` to ``end_lr`` within ``warmup_steps``; then ``learning_rate``.

    ``learning_rate`` is a number or a LearningRateDecay, which counts from the first step on.
    """

    def __init__(
        self,
        learning_rate: Any,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        begin: int = 1,
        step: int = 1,
        dtype: str = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        if not end_lr > start_lr:
            raise ArgumentError(
                f"LinearLrWarmup: end_lr must be greater than start_lr: got start_lr={start_lr}, "
                f"end_lr={end_lr}"
            )
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps
        self.start_lr, self.end_lr = start_lr, end_lr

    def step(self) -> Any:
        """The rate of ``self.step_num``."""
        base = self.learning_rate
        if isinstance(base, LearningRateDecay):
            base = float(base().numpy().item())
        return decays.warmup(Numbers, self.step_num, base, self.warmup_steps, self.start_lr, self.end_lr)


def check_pieces(boundaries: Sequence[Any], values: Sequence[Any]) -> None:
    """Raise ArgumentError unless there is one value more than boundaries."""
    if len(values) - len(boundaries) != 1:
        raise ArgumentError(
            "piecewise_decay: len(values) - len(boundaries) should be 1: got "
            f"{len(values)} values, {len(boundaries)} boundaries"
        )
