"""Rows of small integers.

Eight bits around 0 are those of the engine's quantized models; others are read as what they compute, in
floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.eager.tensor import Parameter
from engine.nn import functional as F
from engine.onnx.reads.elementwise import cast, dtype_name
from engine.onnx.reads.images.windows import each, padded, paddings
from engine.onnx.reads.rows import ROWS, Raw, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import Levels, Unreadable, like, sizes_of
from engine.ops.quantization.linear import dequantize_linear, quantize_linear
from engine.tensor.tensor_like import AnyTensor


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


def rounded(x: AnyTensor) -> Any:
    """To the nearest integer; halves to the even one."""
    return ROWS["Round"].function(x)


def _thresholds(g: Any, scale: Any, zero_point: Any, ndim: int, axis: int, block_size: int) -> Any:
    """Thresholds and their axis as the engine takes them, 127 times a scale; None where it does not."""
    scale = scale.numpy() if isinstance(scale, Parameter) else scale
    given = scale if zero_point is None else zero_point
    if not isinstance(scale, np.ndarray) or not isinstance(given, np.ndarray) or scale.dtype != np.float32:
        return None
    if block_size or scale.ndim > 1 or (zero_point is not None and (given.any() or given.dtype != np.int8)):
        return None
    axis = -1 if scale.size == 1 else axis % max(ndim, 1)
    if axis > 1:
        return None
    return g.tensor((scale.reshape(-1).astype(np.float64) * 127).astype(np.float32), "threshold"), axis


@reads("QuantizeLinear")
def _(
    g: Any,
    x: Any,
    y_scale: Raw,
    y_zero_point: Raw = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
) -> Any:
    found = _thresholds(g, y_scale, y_zero_point, x.ndim, axis, block_size)
    if found is not None and y_zero_point is not None and x.dtype.name == "float32":
        return Levels(quantize_linear(x, found[0], quant_axis=found[1])[0])
    y_scale, y_zero_point = g.tensor(y_scale), g.tensor(y_zero_point)
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
    g: Any,
    x: Raw,
    x_scale: Raw,
    x_zero_point: Raw = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Any:
    small = x.tensor if isinstance(x, Levels) else x
    found = _thresholds(g, x_scale, x_zero_point, small.ndim, axis, block_size)
    is_stored = isinstance(x, np.ndarray) and x.dtype == np.int8 and x.size > 1
    if found is not None and output_dtype in (0, 1) and (is_stored or isinstance(x, Levels)):
        return dequantize_linear(g.tensor(small, "weight"), found[0], quant_axis=found[1])
    x, x_scale, x_zero_point = (g.tensor(v) for v in (x, x_scale, x_zero_point))
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
