"""ParamAttr: how a parameter is named, initialized, trained, regularized and clipped."""

from __future__ import annotations

from typing import Any, TypeAlias

from engine.core.errors import ArgumentError, DTypeError
from engine.nn.initializer.base import Initializer
from engine.nn.regularizer import WeightDecayRegularizer


class ParamAttr:
    """Attributes of a parameter to be created.

    ``learning_rate`` multiplies the optimizer's; ``regularizer`` replaces the optimizer's weight decay;
    ``need_clip=False`` keeps the gradient out of gradient clipping. Raises ArgumentError for a value of
    another type.
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        _check("name", name, (str, type(None)))
        _check("initializer", initializer, (Initializer, type(None)))
        _check("learning_rate", learning_rate, (float, int))
        _check("regularizer", regularizer, (WeightDecayRegularizer, type(None)))
        for field, value in (
            ("trainable", trainable),
            ("do_model_average", do_model_average),
            ("need_clip", need_clip),
        ):
            _check(field, value, (bool,))
        if name == "":
            raise ArgumentError("ParamAttr: name is empty: got ''; leave it out for a generated name")
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = trainable
        self.do_model_average = do_model_average
        self.need_clip = need_clip

    def _mark(self, parameter: Any) -> None:
        """Let a new ``parameter`` remember what optimizers ask for."""
        parameter.optimize_attr = {"learning_rate": self.learning_rate}
        parameter.regularizer = self.regularizer
        parameter.need_clip = self.need_clip
        parameter.do_model_average = self.do_model_average

    @staticmethod
    def _to_attr(value: Any) -> Any:
        """A ParamAttr from what ``weight_attr`` and ``bias_attr`` take; False for no parameter."""
        if value is None or value is True:
            return ParamAttr()
        if value is False or isinstance(value, ParamAttr):
            return value
        if isinstance(value, (list, tuple)):
            return [ParamAttr._to_attr(v) for v in value]
        if isinstance(value, str):
            return ParamAttr(name=value)
        if isinstance(value, Initializer):
            return ParamAttr(initializer=value)
        if isinstance(value, WeightDecayRegularizer):
            return ParamAttr(regularizer=value)
        raise DTypeError(
            f"ParamAttr: attributes of a parameter can't be made of {type(value).__name__}: got {value!r}; "
            "pass a ParamAttr, a name, an initializer, a regularizer, or False for no parameter"
        )

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in vars(self).items())
        return f"ParamAttr({shown})"


# What ``weight_attr`` and ``bias_attr`` take; False for no parameter.
AttrLike: TypeAlias = ParamAttr | Initializer | WeightDecayRegularizer | str | bool | None


def _check(field: str, value: Any, types: tuple[type, ...]) -> None:
    if not isinstance(value, types):
        names = " or ".join("None" if t is type(None) else t.__name__ for t in types)
        raise DTypeError(f"ParamAttr: {field} must be {names}: got {type(value).__name__}; pass one of these")
