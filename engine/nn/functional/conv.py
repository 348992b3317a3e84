"""Convolutions with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.nn.functional.windows import padding_of, pair
from engine.ops import conv as ops
from engine.ops import math, shape


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Two-dimensional convolution.

    ``x`` is [N, C, H, W] (or [N, H, W, C]), ``weight`` [out, C / groups, height, width], ``bias`` [out].
    ``padding``: a number, [height, width], [top, bottom, left, right], a pair for each dimension, 'SAME' or
    'VALID'. Raises ShapeError where shapes do not fit and ArgumentError for another form of an argument.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(f"conv2d: data_format {data_format!r} is none of 'NCHW', 'NHWC'")
    paddings, algorithm = padding_of("conv2d", padding, data_format == "NHWC")
    return convolve(
        x,
        weight,
        bias,
        pair("conv2d", "stride", stride),
        paddings,
        algorithm,
        pair("conv2d", "dilation", dilation),
        groups,
        data_format,
    )


def convolve(
    x: Any,
    weight: Any,
    bias: Any,
    strides: list[int],
    paddings: list[int],
    algorithm: str,
    dilations: list[int],
    groups: int,
    data_format: str,
) -> Any:
    """conv2d with its arguments already in the form of the operator's attributes."""
    out = ops.conv2d(
        x,
        weight,
        strides=strides,
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=dilations,
        groups=groups,
        data_format=data_format,
    )
    if bias is None:
        return out
    if data_format == "NCHW":
        bias = shape.reshape(bias, shape=[1, *bias.shape, 1, 1])
    return math.add(out, bias)
