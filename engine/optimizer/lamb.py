"""Lamb: Adam's step scaled to the size of each parameter, for large batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from engine.nn.clip import ClipGradBase
from engine.ops.training import parameter_updates
from engine.optimizer.adam import Moments, check_betas
from engine.optimizer.lr import LRScheduler


class Lamb(Moments):
    """Adam's step plus ``lamb_weight_decay * param``, scaled to the norm of the parameter.

    ``exclude_from_weight_decay_fn`` says whether a parameter does not decay; the step of such a parameter is
    not scaled either, unless ``always_adapt``. You et al., Large batch optimization for deep learning:
    training BERT in 76 minutes (2020).
    """

    _rule = staticmethod(parameter_updates.lamb)

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-06,
        parameters: Iterable[Any] | None = None,
        grad_clip: ClipGradBase | None = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        self._multi_precision = bool(multi_precision)
        check_betas("Lamb", beta1, beta2, epsilon)
        self._options = {
            "beta1": float(beta1),
            "beta2": float(beta2),
            "epsilon": epsilon,
            "lamb_weight_decay": lamb_weight_decay,
            "exclude_from_weight_decay_fn": exclude_from_weight_decay_fn,
            "always_adapt": bool(always_adapt),
        }
        super().__init__(learning_rate, parameters, None, grad_clip, name)

    def _attributes(self, options: Any, decay: Any, parameter: Any) -> dict[str, Any]:
        excluded = options["exclude_from_weight_decay_fn"]
        return {
            "beta1": options["beta1"],
            "beta2": options["beta2"],
            "epsilon": options["epsilon"],
            "weight_decay": 0.0 if excluded and excluded(parameter) else float(options["lamb_weight_decay"]),
            "always_adapt": options["always_adapt"],
        }
