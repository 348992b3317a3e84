"""``paddle.sparse.nn.functional``: activations, convolutions, pooling and attention of sparse tensors."""

from engine.sparse.nn.functional.conv import conv2d, conv3d, subm_conv2d, subm_conv3d
from engine.sparse.nn.functional.pooling import max_pool3d
from engine.sparse.nn.functional.transformer import attention
from engine.tensor.sparse.activations import leaky_relu, relu, relu6, softmax

__all__ = [
    "attention",
    "conv2d",
    "conv3d",
    "leaky_relu",
    "max_pool3d",
    "relu",
    "relu6",
    "softmax",
    "subm_conv2d",
    "subm_conv3d",
]
