"""Rows of the operators in ``engine/ops/images/conv_transpose.py``."""

from __future__ import annotations

from tests.engine.ops.case import Case, s, v
from tests.engine.ops.images.references import rows
from tests.engine.ops.windows import conv_transpose

TRANSPOSED = [
    s(v(2, 2, 3, 3), v(2, 1, 3, 3)),
    s(v(1, 2, 3, 2), v(2, 3, 3, 2), strides=[2, 3], paddings=[1, 0]),
    s(v(1, 2, 2, 3), v(2, 2, 3, 3), strides=[2, 2], output_padding=[1, 0], paddings=[0, 1, 1, 0]),
    s(v(1, 1, 3, 2), v(1, 2, 2, 2), strides=[3, 2], output_size=[9, 5]),
    s(v(2, 4, 2, 3), v(4, 2, 2, 2), groups=2),
    s(v(1, 2, 2, 2), v(2, 1, 2, 3), dilations=[3, 2], output_padding=[2, 1]),
    s(v(1, 2, 3, 3), v(2, 2, 3, 2), padding_algorithm="SAME", strides=[2, 1]),
    s(v(1, 2, 3, 2), v(2, 2, 3, 2), padding_algorithm="VALID", strides=[2, 1], data_format="NHWC"),
]


TRANSPOSED_EACH = [
    s(v(2, 2, 3, 3), v(2, 1, 3, 2), groups=2, strides=[2, 1], paddings=[1, 0]),
    s(v(1, 3, 2, 2), v(3, 1, 2, 2), groups=3, strides=[2, 2], output_padding=[1, 0]),
]


TRANSPOSED_DEEP = [
    s(v(1, 2, 2, 2, 3), v(2, 2, 2, 2, 2)),
    s(v(2, 2, 2, 3, 2), v(2, 1, 3, 2, 1), strides=[2, 1, 2], paddings=[1, 0, 0], output_padding=[1, 0, 1]),
    s(v(1, 2, 2, 3, 4), v(4, 1, 2, 1, 2), groups=4, data_format="NDHWC"),
    s(v(1, 1, 2, 2, 2), v(1, 1, 2, 2, 2), strides=[2, 2, 2], output_size=[5, 4, 5]),
]


CASES: list[Case] = [
    *rows("conv2d_transpose", conv_transpose, TRANSPOSED),
    *rows("depthwise_conv2d_transpose", conv_transpose, TRANSPOSED_EACH),
    *rows("conv3d_transpose", conv_transpose, TRANSPOSED_DEEP),
]
