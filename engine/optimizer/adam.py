"""Adam and AdamW: steps scaled by running means of the gradient and of its square."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.nn.clip import ClipGradBase
from engine.nn.regularizer import WeightDecayRegularizer
from engine.ops.training import parameter_updates
from engine.optimizer.lr import LRScheduler
from engine.optimizer.memory import First
from engine.optimizer.optimizer import Optimizer, option


def check_betas(where: str, beta1: float, beta2: float, epsilon: float) -> None:
    for name, value in (("beta1", beta1), ("beta2", beta2)):
        if not 0 <= value < 1:
            raise ArgumentError(
                f"{where}: {name} must be in [0, 1): got {value}; the default is the usual choice"
            )
    if not epsilon >= 0:
        raise ArgumentError(f"{where}: epsilon must not be negative: got {epsilon}; the default is 1e-8")


class Moments(Optimizer):
    """The state of Adam, AdamW and Lamb: both moments, and the powers of the betas of the next step."""

    _beta1, _beta2, _epsilon = (option(name) for name in ("beta1", "beta2", "epsilon"))
    _slots = ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")
    _state = ("moment1", "moment2", "beta1_pow", "beta2_pow")

    def _first(self, parameter: Any, options: dict[str, Any]) -> First:
        shape = tuple(parameter.shape)
        return {
            "moment1": (shape, 0.0),
            "moment2": (shape, 0.0),
            "beta1_pow_acc": ((1,), options["beta1"]),
            "beta2_pow_acc": ((1,), options["beta2"]),
        }


class Adam(Moments):
    """Kingma and Ba, Adam: a method for stochastic optimization (2015)."""

    _rule = staticmethod(parameter_updates.adam)

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        self._multi_precision = bool(multi_precision)
        check_betas("Adam", beta1, beta2, epsilon)
        self._options = {"beta1": float(beta1), "beta2": float(beta2), "epsilon": epsilon}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)


class AdamW(Moments):
    """Adam with decoupled weight decay: param *= 1 - learning_rate * weight_decay.

    ``apply_decay_param_fun`` says by a parameter's name whether it decays (all do by default); ``lr_ratio``
    gives a parameter's factor of the learning rate. Loshchilov and Hutter, Decoupled weight decay
    regularization (2019).
    """

    _rule = staticmethod(parameter_updates.adamw)

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        parameters: Iterable[Any] | None = None,
        weight_decay: float = 0.01,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        self._multi_precision = bool(multi_precision)
        check_betas("AdamW", beta1, beta2, epsilon)
        self._lr_ratio = lr_ratio
        self._alike = lr_ratio is None and apply_decay_param_fun is None
        self._apply_decay_param_fun = apply_decay_param_fun
        self._options = {
            "beta1": float(beta1),
            "beta2": float(beta2),
            "epsilon": epsilon,
            "coeff": _coefficient(weight_decay),
        }
        super().__init__(learning_rate, parameters, None, grad_clip, name)

    def _group(self, given: Any) -> Any:
        """A group's weight_decay is its coefficient here, not a term added to the gradient."""
        return _with_coefficient(given) if isinstance(given, dict) else given

    def _attributes(self, options: Any, decay: Any, parameter: Any) -> dict[str, Any]:
        decays = self._apply_decay_param_fun
        return {
            **options,
            "lr_ratio": 1.0 if self._lr_ratio is None else float(self._lr_ratio(parameter)),
            "with_decay": decays is None or bool(decays(parameter.name)),
        }


def _coefficient(weight_decay: Any) -> float:
    if isinstance(weight_decay, bool) or not isinstance(weight_decay, (int, float)):
        raise DTypeError(
            f"AdamW: weight_decay is a number: got {type(weight_decay).__name__}; pass e.g. 0.01"
        )
    return float(weight_decay)


def _with_coefficient(group: dict[str, Any]) -> dict[str, Any]:
    if "weight_decay" not in group:
        return group
    rest = {key: value for key, value in group.items() if key != "weight_decay"}
    return {**rest, "coeff": _coefficient(group["weight_decay"])}
