"""PTQRegistry: the layers that ImperativePTQ looks at."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ConditionError
from engine.nn.layer import activation, pooling
from engine.nn.layer.common import Linear
from engine.nn.layer.conv import Conv2D
from engine.nn.layer.layers import Layer
from engine.nn.layer.norm import BatchNorm2D
from engine.nn.quant import functional_layers, quant_layers


class LayerInfo:
    """A class of layers with the slots of its operator: inputs, weights and outputs."""

    def __init__(
        self, layer: type, input_names: list[str], weight_names: list[str], output_names: list[str]
    ) -> None:
        self.layer = layer
        self.input_names = input_names
        self.weight_names = weight_names
        self.output_names = output_names


PTQ_LAYERS_INFO = [
    LayerInfo(Conv2D, ["Input"], ["Filter"], ["Output"]),
    LayerInfo(Linear, ["X"], ["Y"], ["Out"]),
    LayerInfo(BatchNorm2D, ["X"], [], ["Y"]),
    *(
        LayerInfo(getattr(pooling, name), ["X"], [], ["Out"])
        for name in ("AdaptiveMaxPool2D", "AdaptiveAvgPool2D", "AvgPool2D", "MaxPool2D")
    ),
    *(
        LayerInfo(getattr(activation, name), ["X"], [], ["Out"])
        for name in ("ReLU", "ReLU6", "Hardswish", "Swish", "Sigmoid", "Softmax", "Tanh")
    ),
    LayerInfo(functional_layers.add, ["X", "Y"], [], ["Out"]),
]

QUANT_LAYERS_INFO = [
    LayerInfo(quant_layers.QuantizedConv2D, ["Input"], ["Filter"], ["Output"]),
    LayerInfo(quant_layers.QuantizedLinear, ["X"], ["Y"], ["Out"]),
]

SIMULATED_LAYERS: list[type] = [Conv2D, Linear]


class PTQRegistry:
    """What is known of layers; each question takes a layer or a class of layers."""

    @classmethod
    def is_supported_layer(cls, layer: Layer | type[Layer]) -> bool:
        """Whether it is looked at."""
        return _is_one_of(layer, [info.layer for info in PTQ_LAYERS_INFO])

    @classmethod
    def is_registered_layer(cls, layer: Layer | type[Layer]) -> bool:
        """Whether it is looked at, or what such a layer becomes."""
        return _is_one_of(layer, [info.layer for info in (*PTQ_LAYERS_INFO, *QUANT_LAYERS_INFO)])

    @classmethod
    def is_simulated_quant_layer(cls, layer: Layer | type[Layer]) -> bool:
        """Whether it is replaced by a layer that quantizes."""
        return _is_one_of(layer, SIMULATED_LAYERS)

    @classmethod
    def layer_info(cls, layer: Layer | type[Layer]) -> LayerInfo:
        """Its slots. Raises ConditionError, an AssertionError, for a layer that is not registered."""
        for info in (*PTQ_LAYERS_INFO, *QUANT_LAYERS_INFO):
            if _is_one_of(layer, [info.layer]):
                return info
        raise ConditionError(
            f"PTQRegistry: The input layer is not register.: got {layer!r}; ask is_registered_layer first"
        )


def _is_one_of(layer: Any, known: list[type]) -> bool:
    return layer in known if isinstance(layer, type) else isinstance(layer, tuple(known))
