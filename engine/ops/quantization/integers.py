"""Products of quantized integers: sums that are exact to the last digit, rescaled in one stated order.

Integers come as floating values (results of ``quantize_linear``) or as int8 and int16 (weights). A floating
product of them is exact while no sum leaves the integers that the dtype holds, so products run in BLAS:

- ``bits`` are those of both sides; a value of b bits is at most 2^(b-1), so a sum of n products is at most
  n * 2^(sum(bits) - 2).
- Up to 16 bits together (8 and 8) sums are computed in float32, which holds integers up to 2^24: 1,024
products
  of 8 bits each, or more of fewer bits. Longer sums are split there, and the parts added in float64.
- Above, they are computed in float64, which holds integers up to 2^53: 2^23 products of 16 bits each.

The order of the rescaling is stated, so that results do not depend on who computes them:

1. the exact sum is rounded to the dtype of the result;
2. it is multiplied by ``factor``, x_scale * y_scale / (largest x * largest y) for scales that are thresholds:
   computed in float64, rounded once (``integer_factor``);
3. the bias of a convolution is added; negative values become 0 where the activation is relu.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Bits, Count, Size
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.kernels.cpu.products import product
from engine.ops.images import conv, conv_transpose
from engine.ops.images.conv_bias import ACTIVATIONS
from engine.ops.linalg import products
from engine.ops.quantization import levels

BITS = (2, 16)
STORED_AS = ("int8", "int16")  # the dtypes in which files keep integers
_MOST_GROUPS = 1 << 16
_SINGLE, _DOUBLE = 24, 53  # float32 and float64 hold every integer up to 2 to this power


def exact(bits: Sequence[int]) -> tuple[str, int]:
    """The dtype in which sums of products of values of these bits are exact, and of how many products."""
    each = sum(bits) - len(bits)
    return ("float32", 1 << _SINGLE - each) if sum(bits) <= 16 else ("float64", 1 << _DOUBLE - each)


def _require_bits(where: str, bits: Any) -> None:
    if len(bits) != 2 or not all(type(b) is int and BITS[0] <= b <= BITS[1] for b in bits):
        raise ArgumentError(f"{where}: bits are two numbers from {BITS[0]} to {BITS[1]}: got {list(bits)}")


def _require(
    where: str, x: Spec, y: Spec, factor: Spec, bits: Any, shapes: tuple[tuple[int, ...], ...], along: int
) -> list[Spec]:
    """x and y in the dtype of the result; ``shapes`` are those of a factor that is not one number, ``along``
    is how many products a sum has.

    Raises where dtypes, bits, the factor or the length of the sums do not fit.
    """
    _require_bits(where, bits)
    require_floating(where, factor=factor)
    for name, spec in (("x", x), ("y", y)):
        if spec.dtype.name not in STORED_AS:
            require_floating(where, **{name: spec})
    if not any(factor.agrees(Spec(shape, factor.dtype)) for shape in ((1,), *shapes)):
        raise ShapeError(f"{where}: factor is {factor}: it has one element, or the shape {list(shapes)}")
    dtype, longest = exact(bits)
    if dtype == "float64" and along > longest:
        raise ShapeError(
            f"{where}: sums of {along} products of {list(bits)} bits are not exact; {longest} is the most: "
            "use fewer bits"
        )
    return [x.with_dtype(factor.dtype), y.with_dtype(factor.dtype)]


# -- the factor ----------------------------------------------------------------------------------------------
def _infer_factor(x_scale: Spec, y_scale: Spec, *, bits: Any, repeats: int) -> Spec:
    where = "integer_factor"
    require_floating(where, x_scale=x_scale, y_scale=y_scale)
    dtype = require_same_dtype(where, x_scale=x_scale, y_scale=y_scale)
    _require_bits(where, bits)
    if not 1 <= repeats <= _MOST_GROUPS:
        raise ArgumentError(f"{where}: repeats is {repeats}; it is a number of groups, 1 to {_MOST_GROUPS}")
    if min(x_scale.size, y_scale.size) > 1 or max(x_scale.ndim, y_scale.ndim) > 1:
        raise ShapeError(f"{where}: x_scale is {x_scale}, y_scale {y_scale}: one number, and a vector")
    size = abs(x_scale.size * y_scale.size)
    return Spec((size * repeats if x_scale.known and y_scale.known else -1,), dtype)


@op("integer_factor", infer=_infer_factor)
def integer_factor(xp, x_scale, y_scale, *, bits: Bits = (8, 8), repeats: Size = 1):
    """The factor of a sum of products of integers; one scale may be a vector, one for each channel.

    ``repeats`` is the number of groups of a transposed convolution, which share the scales of a filter.
    """
    both = x_scale.reshape(-1).astype("float64") * y_scale.reshape(-1).astype("float64")
    factor = (both / (levels.largest(bits[0]) * levels.largest(bits[1]))).astype(x_scale.dtype)
    return xp.tile(factor, repeats) if repeats > 1 else factor


# -- matrices ------------------------------------------------------------------------------------------------
def _sums(xp: Any, x: Any, y: Any, bits: Any) -> Any:
    """x [..., rows, n] times y [..., n, columns], exact; in float32 or float64."""
    dtype, longest = exact(bits)
    x, y = x.astype(dtype, copy=False), y.astype(dtype, copy=False)
    along = x.shape[-1]
    if along <= longest:
        return product(xp, x, y)
    parts = [slice(n, n + longest) for n in range(0, along, longest)]
    total = product(xp, x[..., parts[0]], y[..., parts[0], :]).astype("float64")
    for part in parts[1:]:
        total += product(xp, x[..., part], y[..., part, :])
    return total


def _rescaled(sums: Any, factor: Any) -> Any:
    made = sums.astype(factor.dtype, copy=False)
    made *= factor if made.ndim else factor.reshape(())
    return made


def _infer_mul(x: Spec, y: Spec, factor: Spec, *, bits: Any, **dims: Any) -> Spec:
    along = math.prod(y.shape[: dims["y_num_col_dims"]]) if y.known else -1
    shapes: list[tuple[int, ...]] = [(y.shape[1],)] if y.ndim == 2 else []
    shapes += [(x.shape[0], 1)] if x.ndim == 2 else []
    both = _require("mul_integer", x, y, factor, bits, tuple(shapes), along)
    (out,) = products.mul.opdef.infer_specs(both, dims)
    return out  # type: ignore[no-any-return]


@op("mul_integer", infer=_infer_mul)
def mul_integer(xp, x, y, factor, *, bits: Bits = (8, 8), x_num_col_dims=1, y_num_col_dims=1):
    """``mul`` of integers, rescaled; factor is [1], [columns] of a matrix y or [rows, 1] of a matrix x."""
    rows, columns = x.shape[:x_num_col_dims], y.shape[y_num_col_dims:]
    along = math.prod(y.shape[:y_num_col_dims])
    sums = _sums(xp, x.reshape(math.prod(rows), along), y.reshape(along, math.prod(columns)), bits)
    return _rescaled(sums, factor).reshape(*rows, *columns)


def _infer_matmul(x: Spec, y: Spec, factor: Spec, *, bits: Any, trans_x: bool, trans_y: bool) -> Spec:
    along = -1
    shapes: list[tuple[int, ...]] = []
    if y.ndim:
        along = y.shape[-1 if trans_y or y.ndim == 1 else -2]
    if y.ndim > 1:
        shapes.append((y.shape[-2 if trans_y else -1],))
        shapes += [(x.shape[-1 if trans_x else -2], 1)] if x.ndim > 1 else []
    both = _require("matmul_v2_integer", x, y, factor, bits, tuple(shapes), along)
    (out,) = products.matmul.opdef.infer_specs(both, {"trans_x": trans_x, "trans_y": trans_y})
    return out  # type: ignore[no-any-return]


@op("matmul_v2_integer", infer=_infer_matmul)
def matmul_integer(xp, x, y, factor, *, bits: Bits = (8, 8), trans_x=False, trans_y=False):
    """``matmul_v2`` of integers, rescaled; factor is [1], [columns] of y or [rows, 1] of x."""
    if trans_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if trans_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    dropped = tuple(n for n, each in ((-2, x), (-1, y)) if each.ndim == 1)
    sums = _sums(xp, x.reshape(1, -1) if x.ndim == 1 else x, y.reshape(-1, 1) if y.ndim == 1 else y, bits)
    return _rescaled(xp.squeeze(sums, dropped) if dropped else sums, factor)


# -- convolutions --------------------------------------------------------------------------------------------
def _infer_conv(plain: Any, axis: int) -> Any:
    where = f"{plain.opdef.name}_integer"

    def infer(
        x: Spec, weight: Spec, factor: Spec, bias: Spec | None, *, bits: Any, activation: str, **attrs: Any
    ) -> Spec:
        if activation not in ACTIVATIONS:
            raise ArgumentError(f"{where}: activation {activation!r} is not one of {list(ACTIVATIONS)}")
        channels = weight.shape[axis] if weight.ndim > axis else -1
        if axis and channels >= 0:
            channels *= attrs["groups"]
        along = math.prod(weight.shape) // max(weight.shape[axis], 1) if weight.known and weight.ndim else -1
        x, weight = _require(where, x, weight, factor, bits, ((channels,),), along)
        if bias is not None:
            require_same_dtype(where, x=x, bias=bias)
            if bias.ndim != 1 or (-1 not in (bias.shape[0], channels) and bias.shape[0] != channels):
                raise ShapeError(
                    f"{where}: bias is {bias}: it needs one element for each of {channels} channels"
                )
        (out,) = plain.opdef.infer_specs([x, weight], attrs)
        return out  # type: ignore[no-any-return]

    return infer


def _parts(x: Any, weight: Any, bits: Any, groups: int, channel: int, axis: int) -> Any:
    """Images and filters, a part of the summed channels at a time, in a dtype in which its sums are exact.

    ``axis`` is the one of the filters that is summed over; a transposed convolution has the groups there too.
    """
    dtype, longest = exact(bits)
    taken = x.shape[channel] // groups
    each = longest // math.prod(weight.shape[2:])
    if not each:  # a filter with more places than may be summed in float32
        dtype, each = "float64", taken
    x, weight = x.astype(dtype, copy=False), weight.astype(dtype, copy=False)
    if taken <= each:
        yield x, weight
        return
    before, after = x.shape[:channel], x.shape[channel + 1 :]
    images = x.reshape(*before, groups, taken, *after)
    filters = weight if axis else weight.reshape(groups, taken, *weight.shape[1:])
    for first in range(0, taken, each):
        part = slice(first, min(first + each, taken))
        some = images[(slice(None),) * (channel + 1) + (part,)].reshape(*before, -1, *after)
        yield some, filters[:, part] if axis else filters[:, part].reshape(-1, *weight.shape[1:])


def _convolved(
    xp: Any,
    kernel: Callable[..., Any],
    x: Any,
    weight: Any,
    factor: Any,
    bias: Any,
    bits: Any,
    activation: str,
    axis: int,
    attrs: dict[str, Any],
) -> Any:
    last = attrs["data_format"][-1] == "C"
    parts = _parts(x, weight, bits, attrs["groups"], x.ndim - 1 if last else 1, axis)
    sums = kernel(xp, *next(parts), **attrs)
    for part in parts:
        sums = sums.astype("float64", copy=False)
        sums += kernel(xp, *part, **attrs)
    shape = (-1,) if last else (-1, *(1,) * (x.ndim - 2))
    result = _rescaled(sums, factor.reshape(shape))
    if bias is not None:
        result += bias.reshape(shape)
    return xp.maximum(result, 0, out=result) if activation else result


def _define(plain: Any) -> Any:
    kernel = plain.opdef.kernel

    @op(
        f"{plain.opdef.name}_integer",
        infer=_infer_conv(plain, 0),
        outputs=("output",),
        slots={"x": "Input", "weight": "Filter"},
    )
    def convolution(
        xp,
        x,
        weight,
        factor,
        bias=None,
        *,
        bits: Bits = (8, 8),
        activation="",
        strides=(1, 1),
        paddings=(0, 0),
        padding_algorithm="EXPLICIT",
        dilations=(1, 1),
        groups=1,
        data_format="NCHW",
    ):
        """activation(convolution of integers, rescaled, + bias); factor for each filter, or one."""
        attrs = {
            "strides": strides,
            "paddings": paddings,
            "padding_algorithm": padding_algorithm,
            "dilations": dilations,
            "groups": groups,
            "data_format": data_format,
        }
        return _convolved(xp, kernel, x, weight, factor, bias, bits, activation, 1, attrs)

    return convolution


def _define_transposed(plain: Any) -> Any:
    kernel = plain.opdef.kernel

    @op(
        f"{plain.opdef.name}_integer",
        infer=_infer_conv(plain, 1),
        outputs=("output",),
        slots={"x": "Input", "weight": "Filter"},
    )
    def transposed(
        xp,
        x,
        weight,
        factor,
        bias=None,
        *,
        bits: Bits = (8, 8),
        activation="",
        output_padding: Count = (),
        output_size: Size = (),
        strides=(1, 1),
        paddings=(0, 0),
        padding_algorithm="EXPLICIT",
        dilations=(1, 1),
        groups=1,
        data_format="NCHW",
    ):
        """The same of a transposed convolution; factor for each channel of the result, or one."""
        attrs = {
            "output_padding": output_padding,
            "output_size": output_size,
            "strides": strides,
            "paddings": paddings,
            "padding_algorithm": padding_algorithm,
            "dilations": dilations,
            "groups": groups,
            "data_format": data_format,
        }
        return _convolved(xp, kernel, x, weight, factor, bias, bits, activation, 0, attrs)

    return transposed


conv2d_integer = _define(conv.conv2d)
depthwise_conv2d_integer = _define(conv.depthwise_conv2d)
conv2d_transpose_integer = _define_transposed(conv_transpose.conv2d_transpose)
depthwise_conv2d_transpose_integer = _define_transposed(conv_transpose.depthwise_conv2d_transpose)
