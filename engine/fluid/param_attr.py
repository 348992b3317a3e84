"""``fluid.ParamAttr``: attributes of a parameter, with the ``gradient_clip`` that versions before 1.8 had."""

from __future__ import annotations

from typing import Any

from engine.core.errors import DTypeError
from engine.nn import param_attr as modern
from engine.nn.clip import ClipGradBase
from engine.nn.initializer import Initializer
from engine.nn.regularizer import WeightDecayRegularizer

__all__ = ["ParamAttr"]


class ParamAttr(modern.ParamAttr):
    """Attributes of a parameter to be created.

    ``gradient_clip`` clips this parameter's gradient in static mode, as there in 1.5; a bool in its place is
    ``do_model_average``, as from 1.8 on. Raises DTypeError for a value of another type.
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        gradient_clip: ClipGradBase | bool | None = None,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        if isinstance(gradient_clip, bool):
            gradient_clip, do_model_average = None, gradient_clip
        if gradient_clip is not None and not isinstance(gradient_clip, ClipGradBase):
            raise DTypeError(
                "ParamAttr: gradient_clip is one of fluid.clip's GradientClipBy...: got "
                f"{type(gradient_clip).__name__}"
            )
        super().__init__(
            name, initializer, learning_rate, regularizer, trainable, bool(do_model_average), need_clip
        )
        self.gradient_clip = gradient_clip

    @staticmethod
    def _to_attr(value: Any) -> Any:
        """What ``param_attr`` and ``bias_attr`` take, as attributes; False for no parameter."""
        return modern.ParamAttr._to_attr(value)


def clips(parameter: Any, attr: Any) -> Any:
    """``parameter``, which remembers the ``gradient_clip`` of ``attr`` for the optimizer."""
    clip = getattr(attr, "gradient_clip", None)
    if parameter is not None and clip is not None:
        parameter.gradient_clip_attr = clip
    return parameter
