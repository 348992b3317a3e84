"""The parameters of an optimizer, in groups that are updated alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError
from engine.eager.tensor import Tensor
from engine.nn.clip import ClipGradBase
from engine.nn.regularizer import L2Decay, WeightDecayRegularizer


class Group:
    """Parameters that are updated alike: their weight decay, clip, and options of the update rule."""

    __slots__ = ("clip", "decay", "options", "params")

    def __init__(
        self,
        params: list[Any],
        decay: WeightDecayRegularizer | None,
        clip: ClipGradBase | None,
        options: dict[str, Any],
    ) -> None:
        self.params = params
        self.decay = decay
        self.clip = clip
        self.options = options


def group_of(where: str, given: object, default: Group) -> Group:
    """A group from the dict that describes it, with missing options from ``default``."""
    if not isinstance(given, dict) or "params" not in given:
        raise ArgumentError(f"{where}: every group is a dict with 'params': got {given!r}")
    own = dict(given)
    params = own.pop("params")
    params = [params] if isinstance(params, Tensor) or modes.is_symbolic(params) else listed(where, params)
    factor = own.pop("learning_rate", 1.0)
    decay = checked_decay(where, own.pop("weight_decay")) if "weight_decay" in own else default.decay
    clip = checked_clip(where, own.pop("grad_clip", default.clip))
    unknown = own.keys() - default.options.keys()
    if unknown:
        raise ArgumentError(
            f"{where}: unknown options {sorted(unknown)}; a group takes params, learning_rate, weight_decay, "
            f"grad_clip and {sorted(default.options)}"
        )
    for parameter in params:
        parameter.optimize_attr["learning_rate"] = factor
    return Group(params, decay, clip, {**default.options, **own})


def checked_decay(where: str, decay: object) -> WeightDecayRegularizer | None:
    """Weight decay as a regularizer or None."""
    if decay is None or isinstance(decay, WeightDecayRegularizer):
        return decay
    if isinstance(decay, (int, float)) and not isinstance(decay, bool):
        return L2Decay(decay)
    raise DTypeError(
        f"{where}: weight_decay is a number or a regularizer: got {type(decay).__name__}; pass e.g. 1e-4 or "
        "regularizer.L1Decay(1e-4)"
    )


def checked_clip(where: str, clip: object) -> ClipGradBase | None:
    if clip is not None and not isinstance(clip, ClipGradBase):
        raise DTypeError(
            f"{where}: grad_clip is one of nn.ClipGradByValue, ClipGradByNorm, ClipGradByGlobalNorm: got "
            f"{type(clip).__name__}"
        )
    return clip


def listed(where: str, parameters: object) -> list[Any]:
    """``parameters`` as a list; None is allowed while a Program is built, which lists its own parameters."""
    if parameters is None:
        if modes.is_static():
            return []
        raise ArgumentError(f"{where}: got no parameters; pass parameters=model.parameters()")
    if isinstance(parameters, (Tensor, Mapping, set)) or not isinstance(parameters, Iterable):
        raise DTypeError(
            f"{where}: parameters is a list of parameters, or of dicts: got {type(parameters).__name__}; "
            "pass model.parameters()"
        )
    found = list(parameters)
    for number, item in enumerate(found):
        if not isinstance(item, (Tensor, dict)) and not modes.is_symbolic(item):
            raise DTypeError(f"{where}: parameters[{number}] is not a parameter: got {type(item).__name__}")
    return found


def require_unique(where: str, groups: list[Group]) -> None:
    """Raise ArgumentError where a parameter appears twice."""
    parameters = [id(parameter) for group in groups for parameter in group.params]
    if len(set(parameters)) != len(parameters):
        raise ArgumentError(f"{where}: a parameter appears twice; list each once, in one group")


def require_names(where: str, parameters: Iterable[Any]) -> None:
    """Raise ArgumentError where two parameters have one name."""
    seen: dict[str, Any] = {}
    for parameter in parameters:
        if seen.setdefault(parameter.name, parameter) is not parameter:
            raise ArgumentError(
                f"{where}: two parameters are called {parameter.name!r}, but state is stored by name; "
                "give each its own name in ParamAttr"
            )
