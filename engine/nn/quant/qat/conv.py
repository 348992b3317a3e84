"""QuantedConv2D: a Conv2D whose weight and input pass quanters first, and what such layers share."""

from __future__ import annotations

from typing import Any

from engine.nn import functional
from engine.nn.layer.layers import Layer
from engine.nn.quant.config import LayerConfig
from engine.nn.quant.qat.weighted import WeightedQuantedLayer
from engine.tensor.tensor_like import AnyTensor


class ConvolvesAs:
    """Computes with the settings of a Conv2D, which it takes over."""

    bias: Any

    def _take_settings(self, layer: Any) -> None:
        self._groups = layer._groups
        self._stride = layer._stride
        self._padding = layer._padding
        self._padding_mode = layer._padding_mode
        if self._padding_mode != "zeros":
            self._reversed_padding_repeated_twice = layer._reversed_padding_repeated_twice
        self._dilation = layer._dilation
        self._data_format = layer._data_format

    def _conv_forward(self, inputs: Any, weights: Any) -> Any:
        padding = self._padding
        if self._padding_mode != "zeros":
            around = self._reversed_padding_repeated_twice
            inputs = functional.pad(inputs, around, mode=self._padding_mode, data_format=self._data_format)
            padding = 0
        return functional.conv2d(
            inputs,
            weights,
            bias=self.bias,
            padding=padding,
            stride=self._stride,
            dilation=self._dilation,
            groups=self._groups,
            data_format=self._data_format,
        )


class QuantedConv2D(ConvolvesAs, WeightedQuantedLayer):
    """Computes what ``layer``, a Conv2D, computes, with its parameters; they are shared, not copied.

    ``q_config`` has the factories of the quanters, ``weight`` and ``activation``, or None for none.
    """

    def __init__(self, layer: Layer, q_config: LayerConfig) -> None:
        super().__init__()
        self._take_settings(layer)
        self.weight = layer.weight
        self.bias = layer.bias
        self._set_quanters(layer, q_config)

    def forward(self, input: AnyTensor) -> Any:
        return self._conv_forward(*self._quantized(input))
