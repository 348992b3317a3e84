"""Paddle's ``fluid.dygraph``: eager mode and layers under the names of versions before 2.0."""

from engine.base.dygraph import grad, no_grad
from engine.fluid.dygraph import nn, parallel
from engine.fluid.dygraph.backward_strategy import BackwardStrategy
from engine.fluid.dygraph.base import disable_dygraph, enable_dygraph, enabled, guard, to_variable
from engine.fluid.dygraph.checkpoint import load_dygraph, load_persistables, save_dygraph, save_persistables
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
from engine.fluid.dygraph.parallel import (
    DataParallel,
    Env,
    ParallelEnv,
    ParallelStrategy,
    prepare_context,
)
from engine.jit import TranslatedLayer
from engine.nn import LayerList, ParameterList, Sequential

__all__ = [
    "BackwardStrategy", "BatchNorm", "Conv2D", "CosineDecay", "DataParallel", "Embedding", "Env",
    "ExponentialDecay", "FC", "InverseTimeDecay", "Layer", "LayerList", "LearningRateDecay", "Linear",
    "LinearLrWarmup", "NaturalExpDecay", "NoamDecay", "ParallelEnv", "ParallelStrategy", "ParameterList",
    "PiecewiseDecay", "PolynomialDecay", "Pool2D", "Sequential", "TranslatedLayer", "disable_dygraph",
    "enable_dygraph", "enabled", "grad", "guard", "load_dygraph", "load_persistables", "nn", "no_grad",
    "parallel", "prepare_context", "save_dygraph", "save_persistables", "to_variable",
]  # fmt: skip
