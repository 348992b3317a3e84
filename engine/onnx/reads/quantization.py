"""Rows of small integers. They are read as what they compute, in floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.nn import functional as F
from engine.onnx.reads.elementwise import cast, dtype_name
from engine.onnx.reads.images.windows import each, padded, paddings
from engine.onnx.reads.rows import ROWS, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import Unreadable, like, sizes_of


def _along(value: Any, x: Any, axis: int, block_size: int) -> Any:
    """A scale or zero point in a shape that fits ``x``."""
    if value.ndim == 0 or list(value.shape) == [1]:
        return T.reshape(value, [])
    axis %= x.ndim
    if block_size:
        sizes = sizes_of(value)
        made = T.tile(
            T.unsqueeze(value, [axis + 1]), [block_size if n == axis + 1 else 1 for n in range(x.ndim + 1)]
        )
        made = T.reshape(made, [d * block_size if n == axis else d for n, d in enumerate(sizes)])
        return T.slice(made, [axis], [0], [sizes_of(x)[axis]])
    return T.reshape(value, [-1 if n == axis else 1 for n in range(x.ndim)])


def rounded(x: Any) -> Any:
    """To the nearest integer; halves to the even one."""
    return ROWS["Round"].function(x)


@reads("QuantizeLinear")
def _(
    x: Any,
    y_scale: Any,
    y_zero_point: Any = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
) -> Any:
    name = (
        y_zero_point.dtype.name
        if y_zero_point is not None
        else (dtype_name(output_dtype) if output_dtype else "uint8")
    )
    if name not in ("int8", "uint8", "int16"):
        raise Unreadable(f"values of type {name} are not supported")
    made = rounded(T.divide(x, cast(_along(y_scale, x, axis, block_size), x.dtype.name)))
    if y_zero_point is not None:
        made = T.add(made, cast(_along(y_zero_point, x, axis, block_size), x.dtype.name))
    limits = np.iinfo(name)
    made = T.minimum(T.maximum(made, like(float(limits.min), made)), like(float(limits.max), made))
    return T.cast(made, name)


@reads("DequantizeLinear")
def _(
    x: Any,
    x_scale: Any,
    x_zero_point: Any = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Any:
    name = dtype_name(output_dtype) if output_dtype else x_scale.dtype.name
    value = T.cast(x, x_scale.dtype.name)
    if x_zero_point is not None:
        value = T.subtract(value, T.cast(_along(x_zero_point, x, axis, block_size), value.dtype.name))
    return cast(T.multiply(value, _along(x_scale, x, axis, block_size)), name)


def _less(x: Any, zero_point: Any, axis: int) -> Any:
    """Integers as floats without their zero point; products of them are exact up to 2 ** 24."""
    made = T.cast(x, "float64")
    if zero_point is None:
        return made
    if zero_point.ndim == 1 and axis >= 0 and list(zero_point.shape) != [1]:
        zero_point = T.reshape(zero_point, [-1 if n == axis else 1 for n in range(x.ndim)])
    elif zero_point.ndim == 1:
        zero_point = T.reshape(zero_point, [])
    return T.subtract(made, T.cast(zero_point, "float64"))


@reads("MatMulInteger")
def _(A: Any, B: Any, a_zero_point: Any = None, b_zero_point: Any = None) -> Any:
    made = T.matmul(_less(A, a_zero_point, A.ndim - 2), _less(B, b_zero_point, B.ndim - 1))
    return T.cast(made, "int32")


@reads("ConvInteger")
def _(
    x: Any,
    w: Any,
    x_zero_point: Any = None,
    w_zero_point: Any = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    if x.ndim != 4:
        raise Unreadable(f"an image of {x.ndim} dimensions")
    stride, dilation = each(strides, 2), each(dilations, 2)
    pairs = paddings(x, auto_pad, pads, list(w.shape[2:]), stride, dilation)
    images = padded(_less(x, x_zero_point, -1), pairs, 0.0)
    return T.cast(F.conv2d(images, _less(w, w_zero_point, 0), None, stride, 0, dilation, group), "int32")


@reads("DynamicQuantizeLinear")
def _(x: Any) -> Any:
    zero = like(0, x)
    low, high = T.minimum(T.min(x), zero), T.maximum(T.max(x), zero)
    scale = T.divide(T.subtract(high, low), like(255, x))
    whole = T.equal(scale, zero)
    safe = T.where(whole, like(1, x), scale)
    point = rounded(T.minimum(T.maximum(T.divide(T.neg(low), safe), zero), like(255, x)))
    made = T.add(rounded(T.divide(x, safe)), point)
    made = T.cast(T.minimum(T.maximum(made, zero), like(255, x)), "uint8")
    return made, scale, T.cast(point, "uint8")
