"""Paddle's ``fluid.dygraph``: eager mode and layers under the names of versions before 2.0."""

from engine.base.dygraph import grad, no_grad
from engine.fluid.dygraph import nn
from engine.fluid.dygraph.base import disable_dygraph, enable_dygraph, enabled, guard, to_variable
from engine.fluid.dygraph.layers import Layer
from engine.fluid.dygraph.learning_rate_scheduler import (
    CosineDecay,
    ExponentialDecay,
    InverseTimeDecay,
    LearningRateDecay,
    LinearLrWarmup,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
)
from engine.fluid.dygraph.nn import FC, BatchNorm, Conv2D, Embedding, Linear, Pool2D
from engine.jit import TranslatedLayer
from engine.nn import LayerList, ParameterList, Sequential

__all__ = [
    "FC", "BatchNorm", "Conv2D", "CosineDecay", "Embedding", "ExponentialDecay", "InverseTimeDecay", "Layer",
    "LayerList", "LearningRateDecay", "Linear", "LinearLrWarmup", "NaturalExpDecay", "NoamDecay",
    "ParameterList", "PiecewiseDecay", "PolynomialDecay", "Pool2D", "Sequential", "TranslatedLayer",
    "disable_dygraph", "enable_dygraph", "enabled", "grad", "guard", "nn", "no_grad", "to_variable",
]  # fmt: skip
