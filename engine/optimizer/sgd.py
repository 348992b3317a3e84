"""SGD: plain gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core.errors import ArgumentError
from engine.ops import update
from engine.optimizer.lr import LRScheduler
from engine.optimizer.optimizer import Optimizer


def refuse_multi_precision(where: str, multi_precision: bool) -> None:
    """Raise ArgumentError for master weights, which come with mixed precision."""
    if multi_precision:
        raise ArgumentError(
            f"{where}: multi_precision=True keeps float32 copies of float16 parameters, which is not "
            "available; leave it False and train in float32"
        )


class SGD(Optimizer):
    """param -= learning_rate * grad."""

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        refuse_multi_precision("SGD", multi_precision)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, parameter: Any, gradient: Any, rate: Any, kept: Any, options: Any, decay: Any) -> None:
        update.sgd(parameter, rate, gradient)
