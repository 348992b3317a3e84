"""Momentum: gradient descent along a decaying sum of past gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core.errors import ArgumentError
from engine.nn.clip import ClipGradBase
from engine.nn.regularizer import L2Decay, WeightDecayRegularizer
from engine.ops.training import parameter_updates
from engine.optimizer.lr import LRScheduler
from engine.optimizer.optimizer import Optimizer, option


class Momentum(Optimizer):
    """velocity = momentum * velocity + grad; param -= learning_rate * velocity.

    With ``use_nesterov`` param -= learning_rate * (grad + momentum * velocity). L2 decay is part of the
    operator.
    """

    _rule = staticmethod(parameter_updates.momentum)
    _momentum, _use_nesterov = option("momentum"), option("use_nesterov")
    _slots = _state = ("velocity",)

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        momentum: float = 0.9,
        parameters: Iterable[Any] | None = None,
        use_nesterov: bool = False,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        self._multi_precision = bool(multi_precision)
        if momentum is None:
            raise ArgumentError("Momentum: momentum must be a number: got None; pass e.g. 0.9")
        self._options = {
            "momentum": momentum,
            "use_nesterov": bool(use_nesterov),
            "rescale_grad": float(rescale_grad),
        }
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _decay_term(self, parameter: Any, decay: Any) -> Any:
        # The operator adds L2 itself, after rescaling, as Paddle's does.
        return None if isinstance(decay, L2Decay) else super()._decay_term(parameter, decay)

    def _attributes(self, options: Any, decay: Any, parameter: Any) -> dict[str, Any]:
        fused = isinstance(decay, L2Decay)
        return {
            "mu": options["momentum"],
            "use_nesterov": options["use_nesterov"],
            "regularization_method": "l2_decay" if fused else "",
            "regularization_coeff": decay.coeff if fused else 0.0,
            "rescale_grad": options["rescale_grad"],
        }
