"""Automatic sparsity: n of m weights are 0, and stay so in training."""

from engine.incubate.asp.pruning import (
    add_supported_layer,
    calculate_density,
    decorate,
    prune_model,
    reset_excluded_layers,
    set_excluded_layers,
)

__all__ = [
    "calculate_density",
    "decorate",
    "prune_model",
    "set_excluded_layers",
    "reset_excluded_layers",
    "add_supported_layer",
]
