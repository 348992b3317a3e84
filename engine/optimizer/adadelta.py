"""Adadelta: steps scaled by running means of squared steps and squared gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core.errors import ArgumentError
from engine.nn.clip import ClipGradBase
from engine.nn.regularizer import WeightDecayRegularizer
from engine.ops.training import parameter_updates
from engine.optimizer.lr import LRScheduler
from engine.optimizer.optimizer import Optimizer


class Adadelta(Optimizer):
    """param -= learning_rate * grad * sqrt((mean(step^2) + epsilon) / (mean(grad^2) + epsilon)).

    ``rho`` is the share that both running means keep. Zeiler, ADADELTA: an adaptive learning rate method
    (2012).
    """

    _rule = staticmethod(parameter_updates.adadelta)
    _slots = ("_avg_squared_grad", "_avg_squared_update")
    _state = ("avg_squared_grad", "avg_squared_update")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        epsilon: float = 1e-06,
        rho: float = 0.95,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        for field, value in (("epsilon", epsilon), ("rho", rho)):
            if value is None:
                raise ArgumentError(f"Adadelta: {field} is a number: got None")
        self._options = {"epsilon": epsilon, "rho": rho}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
