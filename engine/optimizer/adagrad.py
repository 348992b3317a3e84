"""Adagrad: steps scaled by the sum of all past squared gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core.errors import ArgumentError
from engine.nn.clip import ClipGradBase
from engine.nn.regularizer import WeightDecayRegularizer
from engine.ops.training import parameter_updates
from engine.optimizer.lr import LRScheduler
from engine.optimizer.memory import First
from engine.optimizer.optimizer import Optimizer


class Adagrad(Optimizer):
    """moment += grad^2; param -= learning_rate * grad / (sqrt(moment) + epsilon).

    ``initial_accumulator_value`` is the moment before the first step. Duchi et al., Adaptive subgradient
    methods for online learning and stochastic optimization (2011).
    """

    _rule = staticmethod(parameter_updates.adagrad)
    _slots = _state = ("moment",)

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        epsilon: float = 1e-06,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        if epsilon is None:
            raise ArgumentError("Adagrad: epsilon is a number: got None; the default is 1e-6")
        if initial_accumulator_value < 0:
            raise ArgumentError(
                f"Adagrad: initial_accumulator_value must not be negative: got {initial_accumulator_value}"
            )
        self._options = {"epsilon": epsilon, "initial_accumulator_value": initial_accumulator_value}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _first(self, parameter: Any, options: dict[str, Any]) -> First:
        return {"moment": (tuple(parameter.shape), options["initial_accumulator_value"])}

    def _attributes(self, options: Any, decay: Any, parameter: Any) -> dict[str, Any]:
        return {"epsilon": options["epsilon"]}
