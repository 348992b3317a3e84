"""Products of integers in int64, and the stated order of their rescaling: expected results of the
operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.windows import pads_of

Array = np.ndarray[Any, Any]


def factor(x_scale: Any, y_scale: Any, bits: tuple[int, int], repeats: int = 1) -> Array:
    """x_scale * y_scale / (largest x * largest y) in float64, rounded once."""
    both = np.reshape(x_scale, -1).astype(np.float64) * np.reshape(y_scale, -1).astype(np.float64)
    made = both / ((2 ** (bits[0] - 1) - 1) * (2 ** (bits[1] - 1) - 1))
    return np.tile(made.astype(np.asarray(x_scale).dtype), repeats)


def rescaled(sums: Array, by: Array, bias: Array | None = None, relu: bool = False, axis: int = -1) -> Array:
    """The sums rounded to the dtype of the factor, times the factor, plus the bias; ``axis`` has channels."""
    assert sums.dtype == np.int64
    if by.ndim > 1:
        return np.asarray(sums.astype(by.dtype) * by)
    shape = [1] * sums.ndim
    if sums.ndim:
        shape[axis] = -1
    made = sums.astype(by.dtype) * by.reshape(shape)
    made = made if bias is None else made + bias.reshape(shape)
    return np.maximum(made, 0) if relu else np.asarray(made)


def conv_sums(
    x: Array,
    weight: Array,
    strides: Any = (1, 1),
    paddings: Any = (0, 0),
    dilations: Any = (1, 1),
    groups: int = 1,
    data_format: str = "NCHW",
    padding_algorithm: str = "EXPLICIT",
) -> Array:
    """The sums of a convolution: [N, filters, height, width], or with channels last."""
    last = data_format == "NHWC"
    x = np.moveaxis(x, -1, 1) if last else x
    kernel = weight.shape[2:]
    dilations = (1, 1) if padding_algorithm == "SAME" else dilations
    pads = pads_of(x.shape[2:], kernel, strides, paddings, padding_algorithm)
    x = np.pad(x.astype(np.int64), [(0, 0), (0, 0), *pads])
    out = [
        (n - d * (k - 1) - 1) // t + 1
        for n, k, t, d in zip(x.shape[2:], kernel, strides, dilations, strict=True)
    ]
    x = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    filters = weight.astype(np.int64).reshape(groups, -1, *weight.shape[1:])
    total = np.zeros((x.shape[0], groups, filters.shape[1], *out), np.int64)
    for a, b in np.ndindex(*kernel):
        cut = x[
            ...,
            a * dilations[0] : a * dilations[0] + (out[0] - 1) * strides[0] + 1 : strides[0],
            b * dilations[1] : b * dilations[1] + (out[1] - 1) * strides[1] + 1 : strides[1],
        ]
        total += np.einsum("ngchw,gfc->ngfhw", cut, filters[..., a, b])
    made = total.reshape(x.shape[0], weight.shape[0], *out)
    return np.moveaxis(made, 1, -1) if last else made


def transposed_sums(
    x: Array,
    weight: Array,
    strides: Any = (1, 1),
    paddings: Any = (0, 0),
    dilations: Any = (1, 1),
    groups: int = 1,
    output_padding: Any = (),
    data_format: str = "NCHW",
) -> Array:
    """The sums of a transposed convolution, for explicit paddings."""
    last = data_format == "NHWC"
    x = (np.moveaxis(x, -1, 1) if last else x).astype(np.int64)
    kernel, size = weight.shape[2:], x.shape[2:]
    pads = pads_of(size, kernel, strides, paddings, "EXPLICIT")
    more = output_padding or (0, 0)
    full = [
        (n - 1) * t + d * (k - 1) + 1 + e
        for n, t, d, k, e in zip(size, strides, dilations, kernel, more, strict=True)
    ]
    x = x.reshape(x.shape[0], groups, -1, *size)
    filters = weight.astype(np.int64).reshape(groups, -1, *weight.shape[1:])
    total = np.zeros((x.shape[0], groups, weight.shape[1], *full), np.int64)
    for a, b in np.ndindex(*kernel):
        rows = slice(a * dilations[0], a * dilations[0] + (size[0] - 1) * strides[0] + 1, strides[0])
        columns = slice(b * dilations[1], b * dilations[1] + (size[1] - 1) * strides[1] + 1, strides[1])
        total[..., rows, columns] += np.einsum("ngchw,gcf->ngfhw", x, filters[..., a, b])
    (top, bottom), (left, right) = pads
    made = total[..., top : full[0] - bottom, left : full[1] - right]
    made = made.reshape(x.shape[0], -1, *made.shape[3:])
    return np.moveaxis(made, 1, -1) if last else made
