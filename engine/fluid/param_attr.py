"""``fluid.ParamAttr``: attributes of a parameter, with the ``gradient_clip`` that versions before 1.8 had."""

from __future__ import annotations

from typing import Any

from engine.core.errors import DTypeError
from engine.nn import param_attr as modern
from engine.nn.clip import ClipGradBase
from engine.nn.initializer import Initializer
from engine.nn.regularizer import WeightDecayRegularizer
from engine.static import weight_norm

__all__ = ["ParamAttr", "WeightNormParamAttr"]


class _Clipped(modern.ParamAttr):
    """Attributes with a ``gradient_clip``, over those of today that ``modern`` makes.

    A bool in its place is ``do_model_average``, the argument that stands there from 1.8 on.
    """

    def __init__(self, *first: Any, gradient_clip: Any, do_model_average: Any, need_clip: bool) -> None:
        if isinstance(gradient_clip, bool):
            gradient_clip, do_model_average = None, gradient_clip
        super().__init__(*first, bool(do_model_average), need_clip)
        if gradient_clip is not None and not isinstance(gradient_clip, ClipGradBase):
            raise DTypeError(
                f"{type(self).__name__}: gradient_clip must be one of fluid.clip's GradientClipBy...: got "
                f"{type(gradient_clip).__name__}"
            )
        self.gradient_clip = gradient_clip

    def _mark(self, parameter: Any) -> None:
        super()._mark(parameter)
        if self.gradient_clip is not None:
            parameter.gradient_clip_attr = self.gradient_clip


class ParamAttr(_Clipped, modern.ParamAttr):
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
        super().__init__(
            name,
            initializer,
            learning_rate,
            regularizer,
            trainable,
            gradient_clip=gradient_clip,
            do_model_average=do_model_average,
            need_clip=need_clip,
        )

    @staticmethod
    def _to_attr(value: Any) -> Any:
        """What ``param_attr`` and ``bias_attr`` take, as attributes; False for no parameter."""
        return modern.ParamAttr._to_attr(value)


class WeightNormParamAttr(_Clipped, weight_norm.WeightNormParamAttr):
    """``static.WeightNormParamAttr`` with the ``gradient_clip`` of versions before 1.8, of both parameters.

    Raises DTypeError for a value of another type.
    """

    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        gradient_clip: ClipGradBase | bool | None = None,
        do_model_average: bool = False,
        need_clip: bool = True,
    ) -> None:
        super().__init__(
            dim,
            name,
            initializer,
            learning_rate,
            regularizer,
            trainable,
            gradient_clip=gradient_clip,
            do_model_average=do_model_average,
            need_clip=need_clip,
        )
