"""The hook by which ImperativePTQ sees what a layer takes and gives."""

from __future__ import annotations

from typing import Any

from engine.quantization.observers.observing import look


def quant_forward_post_hook(layer: Any, inputs: tuple[Any, ...], outputs: Any) -> None:
    """Show the layer's quantizers its inputs, where they look at those, and its output."""
    look(layer._quant_config.see, *inputs, outputs)
