"""Layers as functions that make their parameters: ``static.nn.fc`` and its kind."""

from engine.static.nn.common import embedding, fc
from engine.static.nn.control import case, cond, switch_case, while_loop
from engine.static.nn.conv import conv2d, conv2d_transpose, conv3d, conv3d_transpose
from engine.static.nn.more import (
    bilinear_tensor_product,
    prelu,
    row_conv,
    sparse_embedding,
    spectral_norm,
)
from engine.static.nn.norm import batch_norm, group_norm, instance_norm, layer_norm
from engine.static.nn.python import py_func, static_pylayer

# Absent: all sequence_* functions, which work on LoD tensors (rows of uneven length in one tensor); nce and
# data_norm, of Paddle's distributed recommender training. deform_conv2d is in vision.ops.
__all__ = [
    "batch_norm", "bilinear_tensor_product", "case", "cond", "conv2d", "conv2d_transpose", "conv3d",
    "conv3d_transpose", "embedding", "fc", "group_norm", "instance_norm", "layer_norm", "prelu", "py_func",
    "row_conv", "sparse_embedding", "spectral_norm", "static_pylayer", "switch_case", "while_loop",
]  # fmt: skip
