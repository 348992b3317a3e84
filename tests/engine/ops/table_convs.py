"""Rows of the convolutions."""

from __future__ import annotations

from typing import Any

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.windows import bilinear_grad, conv, conv_transpose

CONVS = [
    s(v(2, 1, 5, 5), v(3, 1, 3, 3)),
    s(v(2, 3, 5, 4), v(2, 3, 2, 3), paddings=[1, 2], strides=[2, 1]),
    s(v(1, 2, 5, 5), v(2, 2, 2, 2), paddings=[0, 1, 2, 0]),
    s(v(2, 4, 4, 4), v(4, 2, 3, 3), groups=2, paddings=[1, 1]),
    s(v(1, 3, 4, 4), v(6, 1, 2, 2), groups=3, strides=[2, 2]),
    s(v(1, 2, 6, 6), v(1, 2, 2, 3), dilations=[2, 2], paddings=[1, 1]),
    s(v(1, 2, 6, 5), v(1, 2, 3, 2), padding_algorithm="SAME", strides=[2, 2]),
    s(v(1, 2, 4, 4), v(1, 2, 3, 3), padding_algorithm="VALID"),
    s(v(2, 4, 4, 2), v(3, 2, 3, 3), data_format="NHWC", paddings=[1, 1]),
    s(v(0, 2, 4, 4), v(3, 2, 3, 3)),
    s(v(2, 3, 4, 3), v(2, 3, 1, 1)),
    s(v(2, 4, 4, 5), v(2, 2, 1, 1), groups=2, strides=[2, 2]),
    s(v(1, 2, 3, 3), v(2, 2, 1, 1), paddings=[1, 0]),
]
# With so many channels the image's gradient is a long product.
WIDE = [
    s(v(1, 32, 3, 3), v(2, 32, 2, 2), paddings=[1, 0]),
    s(v(1, 32, 2, 4), v(2, 32, 2, 2), paddings=[0, 2], dilations=[1, 2]),
    s(v(1, 32, 2, 2), v(1, 32, 1, 1), paddings=[0, 1, 0, 0]),
]
DEEP = [
    s(v(1, 1, 3, 3, 3), v(2, 1, 2, 2, 2)),
    s(v(2, 2, 4, 3, 2), v(2, 2, 3, 2, 1), paddings=[1, 0, 1], strides=[2, 1, 1]),
    s(v(1, 4, 3, 2, 3), v(2, 2, 2, 1, 2), groups=2, paddings=[1, 0, 0, 0, 1, 2]),
    s(v(1, 1, 5, 3, 3), v(1, 1, 2, 2, 1), dilations=[2, 1, 2], paddings=[1, 1, 0]),
    s(v(1, 2, 4, 3, 3), v(1, 2, 3, 2, 2), padding_algorithm="SAME", strides=[2, 2, 1]),
    s(v(2, 3, 2, 2, 2), v(2, 2, 2, 1, 2), data_format="NDHWC"),
    s(v(0, 1, 3, 3, 3), v(2, 1, 2, 2, 2)),
]
EACH = [
    s(v(2, 2, 4, 4), v(2, 1, 3, 3), groups=2, paddings=[1, 1]),
    s(v(1, 3, 5, 4), v(6, 1, 2, 3), groups=3, strides=[2, 1], paddings=[0, 1, 1, 0]),
    s(v(2, 5, 5, 2), v(2, 1, 3, 2), groups=2, dilations=[2, 1], data_format="NHWC"),
    s(v(1, 2, 5, 5), v(2, 1, 2, 2), groups=2, padding_algorithm="SAME", strides=[2, 2]),
]
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


def _grads(function: Any, sample: Sample, **more: Any) -> Sample:
    x, weight = sample.inputs
    return s(x, weight, v(*function(x, weight, **sample.attrs).shape, seed=9), **sample.attrs, **more)


def _rows(op: str, function: Any, samples: list[Sample]) -> list[Case]:
    some = [_grads(function, samples[0], need_x=False), _grads(function, samples[1], need_weight=False)]
    # Where several sizes are unknown, so is how far apart the result's may be.
    return [
        *row(op, function, *samples, grads="x weight"),
        *row(f"{op}_grad", bilinear_grad(function), *[_grads(function, c) for c in samples], *some,
             grads="x weight g_in"),
    ]  # fmt: skip


CASES: list[Case] = [
    *_rows("conv2d", conv, [*CONVS, *WIDE]),
    *_rows("conv3d", conv, DEEP),
    *_rows("depthwise_conv2d", conv, EACH),
    *_rows("conv2d_transpose", conv_transpose, TRANSPOSED),
    *_rows("depthwise_conv2d_transpose", conv_transpose, TRANSPOSED_EACH),
    *_rows("conv3d_transpose", conv_transpose, TRANSPOSED_DEEP),
]
