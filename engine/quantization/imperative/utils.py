"""Which layers the dynamic-graph quantization of Paddle 2.0 to 2.4 knows, and how a layer of a network is put
in another's place."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ConditionError
from engine.nn.layer import activation, norm, norm_groups, pooling
from engine.nn.layer.common import Linear
from engine.nn.layer.conv import Conv2D, Conv2DTranspose
from engine.nn.layer.layers import Layer
from engine.nn.quant import functional_layers, quant_layers

layer_name_map: dict[str, type] = {
    "Conv2DTranspose": Conv2DTranspose,
    "Conv2D": Conv2D,
    "Linear": Linear,
    **{
        name: getattr(pooling, name)
        for name in ("AdaptiveAvgPool2D", "AdaptiveMaxPool2D", "AvgPool2D", "MaxPool2D")
    },
    **{
        name: getattr(activation, name)
        for name in (
            "Hardswish",
            "LeakyReLU",
            "PReLU",
            "ReLU",
            "ReLU6",
            "Sigmoid",
            "Softmax",
            "Swish",
            "Tanh",
        )
    },
    "BatchNorm": norm.BatchNorm,
    "GroupNorm": norm_groups.GroupNorm,
    "LayerNorm": norm.LayerNorm,
}

fake_quant_input_layers: list[type] = [Conv2D, Linear, Conv2DTranspose]

fake_quant_output_layers: list[type] = [
    getattr(functional_layers, name) for name in ("add", "subtract", "multiply", "divide", "matmul")
]

fake_quant_leaf_layers: list[type] = [
    quant_layers.FakeQuantAbsMax,
    quant_layers.FakeQuantChannelWiseAbsMax,
    quant_layers.FakeQuantMovingAverageAbsMax,
    quant_layers.MovingAverageAbsMaxScale,
]

fake_quant_wrap_layers: list[type] = [
    quant_layers.QuantizedConv2D,
    quant_layers.QuantizedLinear,
    quant_layers.QuantizedConv2DTranspose,
]


def require_network(where: str, model: object) -> None:
    """Raise ConditionError, an AssertionError, for a value that is not a network."""
    if not isinstance(model, Layer):
        raise ConditionError(
            f"{where}: The model must be the instance of paddle.nn.Layer.: got {model!r}; pass one"
        )


def find_parent_layer_and_sub_name(model: Layer, name: str) -> tuple[Any, str]:
    """The layer that has the one called ``name`` (dotted, as of named_sublayers), and its name there."""
    *path, last = name.split(".")
    for part in path:
        model = getattr(model, part)
    return model, last


def put(model: Layer, name: str, layer: Layer) -> None:
    """Put ``layer`` in the place of the one that is called ``name``."""
    parent, last = find_parent_layer_and_sub_name(model, name)
    setattr(parent, last, layer)


def quantized_form(layer: Layer, **options: Any) -> Layer:
    """The Quantized... layer of ``quant_layers`` that computes what ``layer`` computes."""
    kind = next(name for name, known in layer_name_map.items() if isinstance(layer, known))
    made: Layer = getattr(quant_layers, f"Quantized{kind}")(layer, **options)
    return made


def is_leaf_layer(layer: object) -> bool:
    return isinstance(layer, Layer) and not layer.sublayers()
