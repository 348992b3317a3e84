"""Paddle's ``fluid.dygraph``: eager mode and layers under the names of versions before 2.0."""

from engine.base.dygraph import (
    disable_dygraph,
    enable_dygraph,
    enabled,
    grad,
    guard,
    no_grad,
    to_variable,
)
from engine.jit import TranslatedLayer
from engine.nn import Layer, LayerList, ParameterList, Sequential

__all__ = [
    "Layer", "LayerList", "ParameterList", "Sequential", "TranslatedLayer", "disable_dygraph",
    "enable_dygraph", "enabled", "grad", "guard", "no_grad", "to_variable",
]  # fmt: skip
