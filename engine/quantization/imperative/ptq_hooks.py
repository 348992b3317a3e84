"""The hook by which ImperativePTQ sees what a layer takes and gives."""

from __future__ import annotations

from typing import Any

from engine.nn.layer.layers import Layer
from engine.quantization.observers.observing import look
from engine.tensor.tensor_like import AnyTensor


def quant_forward_post_hook(layer: Layer, inputs: tuple[Any, ...], outputs: AnyTensor) -> None:
    """Show the layer's quantizers its inputs, where they look at those, and its output."""
    look(layer._quant_config.see, *inputs, outputs)
