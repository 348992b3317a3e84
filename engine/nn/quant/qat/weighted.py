"""What quantized layers with one weight and one input share: their two quanters."""

from __future__ import annotations

from typing import Any

from engine.nn.layer.layers import Layer
from engine.nn.quant.config import LayerConfig
from engine.nn.quant.format import ConvertibleQuantedLayer


class WeightedQuantedLayer(ConvertibleQuantedLayer):
    """``weight_quanter`` and ``activation_quanter``, each None where the configuration has none."""

    weight: Any

    def _set_quanters(self, layer: Layer, q_config: LayerConfig) -> None:
        """Quanters for ``layer`` by the factories of ``q_config``, the weight's first."""
        self.weight_quanter: Any = None
        self.activation_quanter: Any = None
        if q_config.weight is not None:
            self.weight_quanter = q_config.weight._instance(layer)
        if q_config.activation is not None:
            self.activation_quanter = q_config.activation._instance(layer)

    def _quantized(self, input: Any) -> tuple[Any, Any]:
        """The input and the weight as their quanters give them."""
        if self.activation_quanter is not None:
            input = self.activation_quanter(input)
        return input, self.weight if self.weight_quanter is None else self.weight_quanter(self.weight)

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        return ["activation_quanter"]
