"""``paddle.sparse.nn``: layers on sparse tensors."""

from engine.sparse.nn import functional as functional
from engine.sparse.nn.layer.activation import LeakyReLU, ReLU, ReLU6, Softmax
from engine.sparse.nn.layer.conv import Conv2D, Conv3D, SubmConv2D, SubmConv3D
from engine.sparse.nn.layer.norm import BatchNorm, SyncBatchNorm
from engine.sparse.nn.layer.pooling import MaxPool3D

__all__ = [
    "BatchNorm",
    "Conv2D",
    "Conv3D",
    "LeakyReLU",
    "MaxPool3D",
    "ReLU",
    "ReLU6",
    "Softmax",
    "SubmConv2D",
    "SubmConv3D",
    "SyncBatchNorm",
]
