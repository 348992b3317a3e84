"""The layers of ``fluid.dygraph``, with ``name_scope`` first (1.5, 1.6) or without it (1.7, 1.8)."""

from engine.core.alias.absent import refusing
from engine.fluid.dygraph.nn.common import BilinearTensorProduct, Dropout, Flatten, PRelu, RowConv
from engine.fluid.dygraph.nn.conv import Conv2D, Conv2DTranspose, Conv3D, Conv3DTranspose, Pool2D
from engine.fluid.dygraph.nn.linear import FC, Embedding, Linear
from engine.fluid.dygraph.nn.noise import NCE
from engine.fluid.dygraph.nn.norm import BatchNorm
from engine.fluid.dygraph.nn.normalizing import GroupNorm, InstanceNorm, LayerNorm, SpectralNorm
from engine.fluid.dygraph.nn.recurrent import GRUUnit
from engine.fluid.renamed.refused import refused

SequenceConv = refused(
    "SequenceConv",
    "fluid.dygraph",
    "works on LoD tensors, which only Programs have; use layers.sequence_conv",
)
TreeConv = refused(
    "TreeConv", "fluid.dygraph", "convolves trees given as edges; use geometric.send_u_recv on the edges"
)

__all__ = [
    "FC",
    "NCE",
    "BatchNorm",
    "BilinearTensorProduct",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "Dropout",
    "Embedding",
    "Flatten",
    "GRUUnit",
    "GroupNorm",
    "InstanceNorm",
    "LayerNorm",
    "Linear",
    "PRelu",
    "Pool2D",
    "RowConv",
    "SequenceConv",
    "SpectralNorm",
    "TreeConv",
]

__getattr__ = refusing(__name__)
