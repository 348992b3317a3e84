"""The hook by which ImperativePTQ sees what a layer takes and gives."""

from __future__ import annotations

from typing import Any


def quant_forward_post_hook(layer: Any, inputs: tuple[Any, ...], outputs: Any) -> None:
    """Show the layer's quantizers its inputs, where they look at those, and its output."""
    config = layer._quant_config
    if config.enable_in_act_quantizer:
        config.in_act_quantizer.sample_data(layer, inputs)
    config.out_act_quantizer.sample_data(layer, (outputs,))
