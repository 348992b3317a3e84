"""Paddle's ``fluid.dygraph.container``: Layers that hold others in order."""

from engine.nn import LayerList, ParameterList, Sequential

__all__ = ["LayerList", "ParameterList", "Sequential"]
