"""Paddle's ``fluid.dygraph``: eager mode and layers under the names of versions before 2.0."""

from engine.base.dygraph import grad, no_grad
from engine.fluid.dygraph.base import disable_dygraph, enable_dygraph, enabled, guard, to_variable
from engine.fluid.dygraph.layers import Layer
from engine.jit import TranslatedLayer
from engine.nn import LayerList, ParameterList, Sequential

__all__ = [
    "Layer", "LayerList", "ParameterList", "Sequential", "TranslatedLayer", "disable_dygraph",
    "enable_dygraph", "enabled", "grad", "guard", "no_grad", "to_variable",
]  # fmt: skip
