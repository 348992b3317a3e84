"""Layers that compute with quantized weights and inputs, made from layers that do not."""

from engine.nn.quant.qat.conv import QuantedConv2D
from engine.nn.quant.qat.linear import QuantedLinear

__all__ = ["QuantedConv2D", "QuantedLinear"]
