"""Update rules that only the optimizers before 2.0 have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.ops.training import parameter_updates
from engine.optimizer.optimizer import Optimizer


class _Rule(Optimizer):
    """An update rule whose numbers are given by name."""

    def __init__(
        self,
        learning_rate: float,
        parameters: Iterable[Any] | None = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        self._options = options
        super().__init__(learning_rate, parameters, name=name)


class DecayedAdagrad(_Rule):
    """moment = decay * moment + (1 - decay) * grad^2; param -= rate * grad / (sqrt(moment) + epsilon)."""

    _slots = ("moment",)

    def _update(
        self, target: Any, gradient: Any, rate: Any, state: Any, options: Any, decay: Any, parameter: Any
    ) -> None:
        parameter_updates.decayed_adagrad(target, gradient, *state, rate, **options)


class Ftrl(_Rule):
    """McMahan et al., Ad click prediction: a view from the trenches (2013)."""

    _slots = ("squared", "linear")

    def _update(
        self, target: Any, gradient: Any, rate: Any, state: Any, options: Any, decay: Any, parameter: Any
    ) -> None:
        parameter_updates.ftrl(target, *state, gradient, rate, **options)


class LarsMomentum(_Rule):
    """You et al., Large batch training of convolutional networks (2017).

    Parameters whose names contain one of ``exclude_from_weight_decay`` do not decay.
    """

    _slots = ("velocity",)

    def _update(
        self, target: Any, gradient: Any, rate: Any, state: Any, options: Any, decay: Any, parameter: Any
    ) -> None:
        excluded = any(part in parameter.name for part in options["exclude_from_weight_decay"] or ())
        parameter_updates.lars_momentum(
            target,
            gradient,
            *state,
            rate,
            mu=options["momentum"],
            lars_coeff=options["lars_coeff"],
            lars_weight_decay=0.0 if excluded else options["lars_weight_decay"],
            epsilon=float(options["epsilon"]),
        )
