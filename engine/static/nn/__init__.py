"""Layers as functions that make their parameters, such as ``static.nn.fc``."""

from engine.core.alias.absent import refusing
from engine.static.nn.common import embedding, fc
from engine.static.nn.control_flow import case, cond, switch_case, while_loop
from engine.static.nn.conv import conv2d, conv2d_transpose, conv3d, conv3d_transpose, deform_conv2d
from engine.static.nn.more import (
    bilinear_tensor_product,
    prelu,
    row_conv,
    sparse_embedding,
    spectral_norm,
)
from engine.static.nn.norm import batch_norm, data_norm, group_norm, instance_norm, layer_norm
from engine.static.nn.python import py_func, static_pylayer

__all__ = [
    "batch_norm",
    "bilinear_tensor_product",
    "case",
    "cond",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "data_norm",
    "deform_conv2d",
    "embedding",
    "fc",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "prelu",
    "py_func",
    "row_conv",
    "sparse_embedding",
    "spectral_norm",
    "static_pylayer",
    "switch_case",
    "while_loop",
]

__getattr__ = refusing(__name__)
