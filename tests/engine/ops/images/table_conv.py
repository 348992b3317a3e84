"""Rows of the operators in ``engine/ops/images/conv.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.images.references import grads, rows
from tests.engine.ops.windows import conv, pads_of

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
    # Entries of the filter that meet nothing but padding.
    s(v(2, 2, 1, 1), v(3, 2, 3, 3), paddings=[1, 1]),
    s(v(1, 2, 2, 5), v(2, 2, 3, 3), paddings=[1, 1], strides=[2, 2]),
    s(v(1, 2, 1, 2), v(2, 2, 5, 3), paddings=[4, 2], dilations=[2, 2]),
]


# With so many channels the image's gradient is a long product.
WIDE = [
    s(v(1, 32, 3, 3), v(2, 32, 2, 2), paddings=[1, 0]),
    s(v(1, 32, 2, 4), v(2, 32, 2, 2), paddings=[0, 2], dilations=[1, 2]),
    s(v(1, 32, 2, 2), v(1, 32, 1, 1), paddings=[0, 1, 0, 0]),
]


# So many filters that their windows are written out.
MANY = [
    s(v(1, 36, 4, 3), v(64, 36, 3, 3), paddings=[1, 1]),
    s(v(2, 72, 4, 4), v(64, 36, 2, 4), groups=2, paddings=[1, 0, 2, 2], strides=[2, 1], dilations=[1, 1]),
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


def _grad_by_sums(
    x: Any, weight: Any, g: Any, need_x: bool = True, need_weight: bool = True, **attrs: Any
) -> Any:
    """Gradients of a convolution from where each window is in the image."""
    numbers = np.arange(x.size // x.shape[0], dtype=float).reshape(1, *x.shape[1:]) + 1
    strides, kernel = attrs.get("strides", [1, 1]), weight.shape[2:]
    pads = pads_of(x.shape[2:], kernel, strides, attrs.get("paddings", [0, 0]), "EXPLICIT")
    padded = np.pad(numbers, [(0, 0), (0, 0), *pads])[0]
    image = np.pad(x, [(0, 0), (0, 0), *pads])
    to_x, to_weight = np.zeros((x.shape[0], numbers.size + 1)), np.zeros_like(weight)
    each, taken = weight.shape[0] // attrs.get("groups", 1), weight.shape[1]
    for f, i, j in np.ndindex(*g.shape[1:]):
        channels = slice(f // each * taken, (f // each + 1) * taken)
        window = (channels, slice(i * strides[0], i * strides[0] + kernel[0]),
                  slice(j * strides[1], j * strides[1] + kernel[1]))
        for n in range(x.shape[0]):
            np.add.at(to_x[n], padded[window].astype(int), weight[f] * g[n, f, i, j])
            to_weight[f] += image[(n, *window)] * g[n, f, i, j]
    return to_x[:, 1:].reshape(x.shape), to_weight


CASES: list[Case] = [
    # In differences of so many numbers there is nothing to see, so their gradients are compared with sums.
    *row("conv2d", conv, *MANY),
    *row("conv2d_grad", _grad_by_sums, *[grads(conv, c) for c in MANY]),
    *rows("conv2d", conv, [*CONVS, *WIDE]),
    *rows("conv3d", conv, DEEP),
    *rows("depthwise_conv2d", conv, EACH),
]
