"""RMSProp: steps scaled by a running mean of squared gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core.errors import ArgumentError
from engine.nn.clip import ClipGradBase
from engine.nn.regularizer import WeightDecayRegularizer
from engine.ops.training import parameter_updates
from engine.optimizer.lr import LRScheduler
from engine.optimizer.optimizer import Optimizer


class RMSProp(Optimizer):
    """moment = momentum * moment + learning_rate * grad / sqrt(mean(grad^2) + epsilon); param -= moment.

    ``rho`` is the share that the running mean keeps; ``centered`` takes the variance instead of the mean of
    squares. Hinton, Neural networks for machine learning, lecture 6e (2012).
    """

    _rule = staticmethod(parameter_updates.rmsprop)
    _slots = ("momentum", "mean_square", "mean_grad")
    _state = ("moment", "mean_square", "mean_grad")

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        rho: float = 0.95,
        epsilon: float = 1e-06,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        for field, value in (("rho", rho), ("epsilon", epsilon), ("momentum", momentum)):
            if value is None or value < 0:
                raise ArgumentError(f"RMSProp: {field} must be 0 or more: got {value!r}")
        self._options = {"rho": rho, "epsilon": epsilon, "momentum": momentum, "centered": bool(centered)}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _attributes(self, options: Any, decay: Any, parameter: Any) -> dict[str, Any]:
        rest = {name: value for name, value in options.items() if name != "rho"}
        return {**rest, "decay": options["rho"]}
