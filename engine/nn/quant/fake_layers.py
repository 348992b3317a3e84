"""Layers that round their input as quantization will, and keep the thresholds they find in training."""

from __future__ import annotations

from typing import Any

from engine import distributed
from engine.core import names
from engine.core.errors import ArgumentError, ArgumentTypeError, ConditionError
from engine.nn.initializer import Constant
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import ParamAttr
from engine.nn.quant.lsq import FakeQuantActLSQPlus, FakeQuantWeightLSQPlus
from engine.ops.quantization import abs_max, moving
from engine.tensor.tensor_like import AnyTensor, DTypeLike


class _FakeLayer(Layer):
    """What the layers share: how they keep numbers that are not trained, and agree on them in training."""

    _reduce_type: str | None
    _scale: Any

    def _untrained(self, name: str, shape: list[int], first: float, dtype: Any) -> Any:
        """A parameter that is not trained, of that name, full of ``first``."""
        attr = ParamAttr(name=name, initializer=Constant(first), trainable=False)
        return self.create_parameter(shape, attr=attr, dtype=dtype)

    def _agree(self) -> None:
        """Take the largest threshold of all processes, where that was asked for."""
        if self._reduce_type == "max" and self._scale is not None:
            distributed.all_reduce(self._scale, op=distributed.ReduceOp.MAX)


def _named(prefix: str | None, kind: str, default: str = "quant_dequant") -> str:
    return names.generate(f"{prefix or default}.{kind}")


class FakeQuantAbsMax(_FakeLayer):
    """Rounds to levels between minus and plus the largest absolute value that is there now.

    ``quant_bits`` are the bits of a level's number. With ``quant_on_weight`` the threshold [1] is stored as
    the parameter ``_scale``, named after ``name``. ``reduce_type`` "max" takes the largest one of all
    processes.
    """

    def __init__(
        self,
        name: str | None = None,
        quant_bits: int = 8,
        dtype: DTypeLike = "float32",
        quant_on_weight: bool = False,
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._quant_bits = quant_bits
        self._name = name
        self._reduce_type = reduce_type
        self._scale_name = _named(name, "scale")
        self._scale = self._untrained(self._scale_name, [1], 0.001, self._dtype) if quant_on_weight else None

    def forward(self, input: AnyTensor) -> Any:
        self._agree()
        return abs_max.fake_quantize_dequantize_abs_max(input, self._scale, bit_length=self._quant_bits)[0]


class FakeQuantMovingAverageAbsMax(_FakeLayer):
    """Rounds to levels between minus and plus the moving average of the largest absolute value.

    In training the average follows the input: ``scale = accum / state`` with ``accum = moving_rate * accum +
    max |x|`` and ``state = moving_rate * state + 1``, all [1]; in evaluation it stays. Other arguments as of
    ``FakeQuantAbsMax``.
    """

    def __init__(
        self,
        name: str | None = None,
        moving_rate: float = 0.9,
        quant_bits: int = 8,
        dtype: DTypeLike = "float32",
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._moving_rate = moving_rate
        self._quant_bits = quant_bits
        self._reduce_type = reduce_type
        self._scale = self._untrained(_named(name, "scale"), [1], 0.001, dtype)
        self._state = self._untrained(_named(name, "state"), [1], 1.0, dtype)
        self._accum = self._untrained(_named(name, "accum"), [1], 1.0, dtype)

    def forward(self, input: AnyTensor) -> Any:
        self._agree()
        state = (self._accum, self._state) if self.training else (None, None)
        return moving.fake_quantize_dequantize_moving_average_abs_max(
            input,
            self._scale,
            *state,
            moving_rate=self._moving_rate,
            bit_length=self._quant_bits,
            is_test=not self.training,
        )[0]


class FakeQuantChannelWiseAbsMax(_FakeLayer):
    """Rounds each channel of a weight to levels between minus and plus its largest absolute value.

    The thresholds [``channel_num``] along ``quant_axis`` (0 for convolutions, 1 for linear layers) are kept
    as the parameter ``_scale``. Raises ConditionError unless ``quant_on_weight``: other arguments as of
    ``FakeQuantAbsMax``.
    """

    _dtype: Any  # as it was given

    def __init__(
        self,
        name: str | None = None,
        channel_num: int | None = None,
        quant_bits: int = 8,
        quant_axis: int = 0,
        dtype: DTypeLike = "float32",
        quant_on_weight: bool = False,
        reduce_type: str | None = None,
    ) -> None:
        if not quant_on_weight:
            raise ConditionError(
                "FakeQuantChannelWiseAbsMax: Channel_wise only can be used on weight quantization: got "
                f"quant_on_weight={quant_on_weight}; take FakeQuantAbsMax for inputs"
            )
        super().__init__()
        self._quant_bits = quant_bits
        self._quant_axis = quant_axis
        self._dtype = dtype
        self._name = name
        self._channel_num = _channels(channel_num)
        self._reduce_type = reduce_type
        self._scale_name = _named(name, "scale")
        self._scale = self._untrained(self._scale_name, [self._channel_num], 0.0, self._dtype)

    def forward(self, input: AnyTensor) -> Any:
        self._agree()
        return abs_max.fake_channel_wise_quantize_dequantize_abs_max(
            input, self._scale, bit_length=self._quant_bits, quant_axis=self._quant_axis
        )[0]


class MovingAverageAbsMaxScale(_FakeLayer):
    """Gives back its input, and in training keeps the moving average of its largest absolute value.

    The average is ``_scale`` [1] (see ``FakeQuantMovingAverageAbsMax``); it begins with 0.
    """

    def __init__(
        self,
        name: str | None = None,
        moving_rate: float = 0.9,
        dtype: DTypeLike = "float32",
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._moving_rate = moving_rate
        self._reduce_type = reduce_type
        self._scale = self._untrained(_named(name, "scale", "outscale"), [1], 0.0, dtype)
        self._state = self._untrained(_named(name, "state", "outscale"), [1], 0.0, dtype)
        self._accum = self._untrained(_named(name, "accum", "outscale"), [1], 0.0, dtype)

    def forward(self, input: AnyTensor) -> Any:
        self._agree()
        state = (self._accum, self._state) if self.training else (None, None)
        return moving.moving_average_abs_max_scale(
            input, *state, self._scale, moving_rate=self._moving_rate, is_test=not self.training
        )[0]


QuantStub = MovingAverageAbsMaxScale


class MAOutputScaleLayer(Layer):
    """``layer``, whose result a MovingAverageAbsMaxScale observes; several results pass unobserved."""

    def __init__(
        self,
        layer: Layer | None = None,
        moving_rate: float = 0.9,
        name: str | None = None,
        dtype: DTypeLike = "float32",
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        if layer is None:  # the default is Paddle's
            raise ArgumentTypeError(
                "MAOutputScaleLayer: layer is the Layer whose result is observed: got None; pass one"
            )
        self._layer = layer
        self._ma_output_scale = MovingAverageAbsMaxScale(
            self._layer.full_name() if name is None else name, moving_rate, dtype, reduce_type
        )

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        out = self._layer(*inputs, **kwargs)
        return out if isinstance(out, (list, tuple, dict)) else self._ma_output_scale(out)


class FakeQuantMAOutputScaleLayer(Layer):
    """``layer``, whose result a FakeQuantMovingAverageAbsMax rounds; several results pass as they are.

    ``activation_bits`` are the bits of the result; ``weight_bits`` changes nothing, as in Paddle.
    """

    def __init__(
        self,
        layer: Layer,
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        name: str | None = None,
        reduce_type: str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self._layer = layer
        self._fake_quant_output = _get_fake_quant_type(
            "moving_average_abs_max",
            name=layer.full_name() if name is None else name,
            moving_rate=moving_rate,
            quant_bits=activation_bits,
            dtype=self._dtype,
            quant_on_weight=False,
            reduce_type=reduce_type,
        )

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        out = self._layer(*inputs, **kwargs)
        several = isinstance(out, (list, tuple)) and len(out) > 1
        return out if several else self._fake_quant_output(out)


def _channels(channel_num: int | None) -> int:
    """The number of channels. Raises ConditionError where it is missing."""
    if channel_num is None:
        raise ConditionError(
            "channel_wise_abs_max: You need to input channel_num for a channel-wise strategy: got None; "
            "pass the size of the weight along quant_axis"
        )
    return channel_num


def _get_fake_quant_type(quant_type: str, **kwargs: Any) -> Layer:
    """The layer that ``quant_type`` names, made with those of ``kwargs`` that it takes.

    Raises ArgumentError for an unknown type, ConditionError where a channel-wise one lacks ``channel_num``.
    """
    common = {
        "name": kwargs.get("name"),
        "quant_bits": kwargs.get("quant_bits", 8),
        "dtype": kwargs.get("dtype", "float32"),
        "reduce_type": kwargs.get("reduce_type"),
    }
    if quant_type == "abs_max":
        return FakeQuantAbsMax(quant_on_weight=kwargs.get("quant_on_weight", False), **common)
    if quant_type == "moving_average_abs_max":
        return FakeQuantMovingAverageAbsMax(moving_rate=kwargs.get("moving_rate", 0.9), **common)
    if quant_type == "channel_wise_abs_max":
        return FakeQuantChannelWiseAbsMax(
            channel_num=_channels(kwargs.get("channel_num")),
            quant_axis=kwargs.get("quant_axis", 0),
            quant_on_weight=kwargs.get("quant_on_weight", False),
            **common,
        )
    if quant_type in ("lsq_weight", "channel_wise_lsq_weight"):
        by_channel = quant_type == "channel_wise_lsq_weight"
        return FakeQuantWeightLSQPlus(
            all_postive=kwargs.get("all_postive", False),
            per_channel=by_channel,
            channel_num=_channels(kwargs.get("channel_num")) if by_channel else 1,
            quant_linear=kwargs.get("quant_linear", False),
            **common,
        )
    if quant_type == "lsq_act":
        return FakeQuantActLSQPlus(
            all_postive=kwargs.get("all_postive", False), symmetric=kwargs.get("symmetric", True), **common
        )
    raise ArgumentError(
        f"fake quantization: quant_type {quant_type!r} is not one of abs_max, moving_average_abs_max, "
        "channel_wise_abs_max, lsq_weight, channel_wise_lsq_weight, lsq_act"
    )
