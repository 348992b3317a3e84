"""Layers that round their weight and their input in training, made from layers that do not.

They share the parameters of the layer they are made from. Quanters are made by ``weight_quantize_type`` and
``activation_quantize_type`` (see ``_get_fake_quant_type``) or by ``weight_quant_layer`` and
``act_quant_layer``; ``weight_pre_layer`` and ``act_pre_layer`` make layers that see the values before these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.nn import functional
from engine.nn.layer.layers import Layer
from engine.nn.quant.fake_layers import (
    FakeQuantAbsMax,
    FakeQuantChannelWiseAbsMax,
    FakeQuantMAOutputScaleLayer,
    FakeQuantMovingAverageAbsMax,
    MAOutputScaleLayer,
    MovingAverageAbsMaxScale,
    QuantStub,
    _get_fake_quant_type,
)
from engine.nn.quant.lsq import FakeQuantActLSQPlus, FakeQuantWeightLSQPlus
from engine.nn.quant.qat.conv import ConvolvesAs
from engine.tensor.linalg import matmul
from engine.tensor.tensor_like import AnyTensor, IntegersLike

__all__ = [
    "FakeQuantAbsMax",
    "FakeQuantActLSQPlus",
    "FakeQuantChannelWiseAbsMax",
    "FakeQuantMAOutputScaleLayer",
    "FakeQuantMovingAverageAbsMax",
    "FakeQuantWeightLSQPlus",
    "MAOutputScaleLayer",
    "MovingAverageAbsMaxScale",
    "QuantStub",
    "QuantizedConv2D",
    "QuantizedConv2DTranspose",
    "QuantizedLinear",
    "QuantizedMatmul",
    "_get_fake_quant_type",
]

Maker = Callable[[], Layer] | None


class _Quantized(Layer):
    """A layer with one weight and one input, both quantized."""

    weight: Any
    bias: Any
    _axis: int  # of the weight's output channels

    def __init__(
        self,
        layer: Layer,
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "abs_max",
        weight_pre_layer: Maker = None,
        act_pre_layer: Maker = None,
        weight_quant_layer: Maker = None,
        act_quant_layer: Maker = None,
    ) -> None:
        super().__init__()
        self.weight = layer.weight
        self.bias = layer.bias
        self._take(layer)
        if weight_quant_layer is not None:
            self._fake_quant_weight = weight_quant_layer()
        else:
            self._fake_quant_weight = _get_fake_quant_type(
                weight_quantize_type,
                name=self.weight.name,
                moving_rate=moving_rate,
                quant_bits=weight_bits,
                dtype=self._dtype,
                quant_on_weight=True,
                channel_num=self.weight.shape[self._axis],
                quant_axis=self._axis,
                quant_linear=isinstance(self, QuantizedLinear),
            )
        if act_quant_layer is not None:
            self._fake_quant_input = act_quant_layer()
        else:
            self._fake_quant_input = _get_fake_quant_type(
                activation_quantize_type,
                name=layer.full_name(),
                moving_rate=moving_rate,
                quant_bits=activation_bits,
                dtype=self._dtype,
                quant_on_weight=False,
            )
        self._act_preprocess = None if act_pre_layer is None else act_pre_layer()
        self._weight_preprocess = None if weight_pre_layer is None else weight_pre_layer()

    def _take(self, layer: Any) -> None:
        """Take over the arguments of ``layer``."""
        raise NotImplementedError

    def _rounded(self, input: Any) -> tuple[Any, Any]:
        """The input and the weight as their quanters give them."""
        if self._act_preprocess is not None:
            input = self._act_preprocess(input)
        rounded = self._fake_quant_input(input)
        weight = self.weight
        if self._weight_preprocess is not None:
            weight = self._weight_preprocess(weight)
        return rounded, self._fake_quant_weight(weight)


class QuantizedConv2D(ConvolvesAs, _Quantized):
    """A Conv2D whose weight and input are rounded as quantization will."""

    _axis = 0

    def _take(self, layer: Any) -> None:
        self._take_settings(layer)

    def forward(self, input: AnyTensor) -> Any:
        return self._conv_forward(*self._rounded(input))


class QuantizedConv2DTranspose(_Quantized):
    """A Conv2DTranspose whose weight and input are rounded as quantization will."""

    _axis = 1

    def _take(self, layer: Any) -> None:
        self._groups = layer._groups
        self._stride = layer._stride
        self._padding = layer._padding
        self._output_padding = layer.output_padding
        self._dilation = layer._dilation
        self._data_format = layer._data_format

    def forward(self, input: AnyTensor, output_size: IntegersLike | None = None) -> Any:
        rounded, weight = self._rounded(input)
        return functional.conv2d_transpose(
            rounded,
            weight,
            bias=self.bias,
            padding=self._padding,
            output_padding=self._output_padding if output_size is None else 0,
            stride=self._stride,
            dilation=self._dilation,
            groups=self._groups,
            output_size=output_size,
            data_format=self._data_format,
        )


class QuantizedLinear(_Quantized):
    """A Linear whose weight and input are rounded as quantization will."""

    _axis = 1

    def _take(self, layer: Any) -> None:
        self.name = layer.name

    def forward(self, input: AnyTensor) -> Any:
        rounded, weight = self._rounded(input)
        return functional.linear(rounded, weight, bias=self.bias, name=self.name)


class QuantizedMatmul(Layer):
    """The matrix product of x and y, both rounded as quantization will.

    ``layer`` and what concerns weights change nothing: a product has none.
    """

    def __init__(
        self,
        layer: Layer | None = None,
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "abs_max",
        weight_pre_layer: Maker = None,
        act_pre_layer: Maker = None,
        weight_quant_layer: Maker = None,
        act_quant_layer: Maker = None,
    ) -> None:
        super().__init__()

        def quanter() -> Layer:
            if act_quant_layer is not None:
                return act_quant_layer()
            return _get_fake_quant_type(
                activation_quantize_type,
                moving_rate=moving_rate,
                quant_bits=activation_bits,
                quant_on_weight=False,
            )

        self._fake_quant_x, self._fake_quant_y = quanter(), quanter()
        self._act_preprocess_x = None if act_pre_layer is None else act_pre_layer()
        self._act_preprocess_y = None if act_pre_layer is None else act_pre_layer()

    def forward(
        self,
        x: AnyTensor,
        y: AnyTensor,
        transpose_x: bool = False,
        transpose_y: bool = False,
        name: str | None = None,
    ) -> Any:
        if self._act_preprocess_x is not None:
            x = self._act_preprocess_x(x)
        rounded = self._fake_quant_x(x)
        if self._act_preprocess_y is not None:
            y = self._act_preprocess_y(y)
        return matmul(rounded, self._fake_quant_y(y), transpose_x, transpose_y, name)
