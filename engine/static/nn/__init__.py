"""Layers as functions that make their parameters, such as ``static.nn.fc``."""

from typing import TYPE_CHECKING

from engine.core.alias.absent import refusing
from engine.core.lazy import lazy
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
from engine.static.nn.noise import nce
from engine.static.nn.norm import batch_norm, data_norm, group_norm, instance_norm, layer_norm
from engine.static.nn.python import py_func, static_pylayer

if TYPE_CHECKING:
    from engine.static.nn.sequences import (
        sequence_concat,
        sequence_conv,
        sequence_enumerate,
        sequence_expand,
        sequence_expand_as,
        sequence_first_step,
        sequence_last_step,
        sequence_pad,
        sequence_pool,
        sequence_reshape,
        sequence_reverse,
        sequence_scatter,
        sequence_slice,
        sequence_softmax,
        sequence_unpad,
    )

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
    "nce",
    "prelu",
    "py_func",
    "row_conv",
    "sequence_concat",
    "sequence_conv",
    "sequence_enumerate",
    "sequence_expand",
    "sequence_expand_as",
    "sequence_first_step",
    "sequence_last_step",
    "sequence_pad",
    "sequence_pool",
    "sequence_reshape",
    "sequence_reverse",
    "sequence_scatter",
    "sequence_slice",
    "sequence_softmax",
    "sequence_unpad",
    "sparse_embedding",
    "spectral_norm",
    "static_pylayer",
    "switch_case",
    "while_loop",
]

__getattr__ = lazy(
    __name__,
    modules=("sequences",),
    members={
        "engine.static.nn.sequences": (
            "sequence_concat",
            "sequence_conv",
            "sequence_enumerate",
            "sequence_expand",
            "sequence_expand_as",
            "sequence_first_step",
            "sequence_last_step",
            "sequence_pad",
            "sequence_pool",
            "sequence_reshape",
            "sequence_reverse",
            "sequence_scatter",
            "sequence_slice",
            "sequence_softmax",
            "sequence_unpad",
        )
    },
    missing=refusing(__name__),
)
