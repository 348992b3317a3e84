"""QuantedLinear: a Linear whose weight and input pass quanters first."""

from __future__ import annotations

from typing import Any

from engine.nn import functional
from engine.nn.layer.layers import Layer
from engine.nn.quant.config import LayerConfig
from engine.nn.quant.qat.weighted import WeightedQuantedLayer
from engine.tensor.tensor_like import AnyTensor


class QuantedLinear(WeightedQuantedLayer):
    """Computes what ``layer``, a Linear, computes, with its parameters; they are shared, not copied.

    ``q_config`` has the factories of the quanters, ``weight`` and ``activation``, or None for none.
    """

    def __init__(self, layer: Layer, q_config: LayerConfig) -> None:
        super().__init__()
        self.weight = layer.weight
        self.bias = layer.bias
        self.name = layer.name
        self._set_quanters(layer, q_config)

    def forward(self, input: AnyTensor) -> Any:
        return self._linear_forward(*self._quantized(input))

    def _linear_forward(self, input: Any, weight: Any) -> Any:
        return functional.linear(input, weight, bias=self.bias, name=self.name)
