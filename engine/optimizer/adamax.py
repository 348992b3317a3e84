"""Adamax: Adam with the largest past gradient in place of the mean of squares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.nn.clip import ClipGradBase
from engine.nn.regularizer import WeightDecayRegularizer
from engine.ops.training import parameter_updates
from engine.optimizer.adam import check_betas
from engine.optimizer.lr import LRScheduler
from engine.optimizer.memory import First
from engine.optimizer.optimizer import Optimizer


class Adamax(Optimizer):
    """param -= learning_rate / (1 - beta1^t) * moment / inf_norm, the norm decaying by beta2.

    Kingma and Ba, Adam: a method for stochastic optimization (2015), section 7.1.
    """

    _rule = staticmethod(parameter_updates.adamax)
    _slots = ("moment", "inf_norm", "beta1_pow_acc")
    _state = ("moment", "inf_norm", "beta1_pow")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        check_betas("Adamax", beta1, beta2, epsilon)
        self._options = {"beta1": float(beta1), "beta2": float(beta2), "epsilon": epsilon}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _first(self, parameter: Any, options: dict[str, Any]) -> First:
        shape = tuple(parameter.shape)
        return {"moment": (shape, 0.0), "inf_norm": (shape, 0.0), "beta1_pow_acc": ((1,), options["beta1"])}
