"""The layers of ``fluid.dygraph``, with ``name_scope`` first (1.5, 1.6) or without it (1.7, 1.8)."""

from engine.fluid.dygraph.nn.conv import Conv2D, Pool2D
from engine.fluid.dygraph.nn.linear import FC, Embedding, Linear
from engine.fluid.dygraph.nn.norm import BatchNorm

__all__ = ["FC", "BatchNorm", "Conv2D", "Embedding", "Linear", "Pool2D"]
