"""Paddle's ``fluid.dygraph``: eager mode and layers under the names of versions before 2.0."""

from engine.base.dygraph import no_grad
from engine.core.alias.absent import refusing
from engine.fluid.dygraph import container, dygraph_to_static, jit, nn, parallel
from engine.fluid.dygraph.backward_strategy import BackwardStrategy
from engine.fluid.dygraph.base import disable_dygraph, enable_dygraph, enabled, grad, guard, to_variable
from engine.fluid.dygraph.checkpoint import load_dygraph, load_persistables, save_dygraph, save_persistables
from engine.fluid.dygraph.epoch_decays import LambdaDecay, MultiStepDecay, ReduceLROnPlateau, StepDecay
from engine.fluid.dygraph.jit import ProgramTranslator, TracedLayer, declarative, dygraph_to_static_func
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
from engine.fluid.dygraph.nn import (
    FC,
    NCE,
    BatchNorm,
    BilinearTensorProduct,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    Dropout,
    Embedding,
    Flatten,
    GroupNorm,
    GRUUnit,
    InstanceNorm,
    LayerNorm,
    Linear,
    Pool2D,
    PRelu,
    RowConv,
    SequenceConv,
    SpectralNorm,
    TreeConv,
)
from engine.fluid.dygraph.parallel import (
    DataParallel,
    Env,
    ParallelEnv,
    ParallelStrategy,
    prepare_context,
)
from engine.fluid.dygraph.rnn import GRUCell, LSTMCell
from engine.jit import TranslatedLayer
from engine.nn import LayerList, ParameterList, Sequential

__all__ = [
    "BackwardStrategy",
    "BatchNorm",
    "BilinearTensorProduct",
    "CosineDecay",
    "DataParallel",
    "Dropout",
    "Embedding",
    "Env",
    "ExponentialDecay",
    "FC",
    "Flatten",
    "GRUCell",
    "GRUUnit",
    "GroupNorm",
    "InstanceNorm",
    "InverseTimeDecay",
    "Layer",
    "LSTMCell",
    "LayerList",
    "LayerNorm",
    "LearningRateDecay",
    "Linear",
    "LinearLrWarmup",
    "LambdaDecay",
    "MultiStepDecay",
    "NCE",
    "NaturalExpDecay",
    "NoamDecay",
    "ReduceLROnPlateau",
    "StepDecay",
    "PRelu",
    "ParallelEnv",
    "ParallelStrategy",
    "ParameterList",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ProgramTranslator",
    "RowConv",
    "Sequential",
    "SequenceConv",
    "SpectralNorm",
    "TracedLayer",
    "TranslatedLayer",
    "TreeConv",
    "declarative",
    "disable_dygraph",
    "dygraph_to_static",
    "dygraph_to_static_func",
    "enable_dygraph",
    "enabled",
    "grad",
    "guard",
    "jit",
    "load_dygraph",
    "load_persistables",
    "nn",
    "no_grad",
    "parallel",
    "prepare_context",
    "save_dygraph",
    "save_persistables",
    "to_variable",
]

__getattr__ = refusing(__name__)
