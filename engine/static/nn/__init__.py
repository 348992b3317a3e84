"""Layers as functions that make their parameters: ``static.nn.fc`` and its kind."""

from engine.static.nn.common import embedding, fc
from engine.static.nn.control import case, cond, switch_case, while_loop
from engine.static.nn.conv import conv2d, conv2d_transpose, conv3d, conv3d_transpose
from engine.static.nn.norm import batch_norm, group_norm, instance_norm, layer_norm

__all__ = [
    "batch_norm", "case", "cond", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "embedding",
    "fc", "group_norm", "instance_norm", "layer_norm", "switch_case", "while_loop",
]  # fmt: skip
