"""Rows of ``engine.ops.arrays``."""

from engine.onnx.writes.arrays import (  # fill ROWS
    along_axis,
    creation,
    dynamic_shape,
    embedding,
    flip_roll,
    index,
    repeat,
    scatter,
    shape,
    sort,
    strides,
    tensor_array,
    triangles,
)
