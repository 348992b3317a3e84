"""Rows of quantization.

Eight bits become QuantizeLinear and DequantizeLinear, which runtimes join with the products between them.
Paddle's threshold is the largest absolute value, ONNX's scale the step between levels: threshold / 127.
Other numbers of bits are written as arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import engine.onnx.writes.images  # noqa: F401  # the rows of plain convolutions
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.linalg import flat_product, product
from engine.onnx.writes.rows import ROWS, writes
from engine.onnx.writes.sizes import filled, flat, size, typed
from engine.ops.quantization.levels import largest

_TINY = 1e-30  # at most this threshold counts as zero


# -- thresholds and levels -----------------------------------------------------------------------------------
def _replaced(threshold: Value, array: Any) -> Value:
    return typed(threshold, array.shape, array.dtype.name)


def _threshold(g: Graph, given: Value, axis: int) -> Value:
    """A threshold as ONNX takes scales: without dimensions, or [channels]; none of zero."""
    shape = [-1] if axis >= 0 else []
    if given.array is not None:
        array = given.array.reshape(shape)
        return g.constant(np.where(array <= _TINY, array + given.array.dtype.type(1e-6), array))
    known = [given.shape[0] if given.ndim else -1] if axis >= 0 else []
    number = typed(g.Reshape(given, shape), known, given.dtype)
    nonzero = g.Where(g.LessOrEqual(number, g.like(_TINY, given)), g.Add(number, g.like(1e-6, given)), number)
    return typed(nonzero, number.shape, given.dtype)


def _step(g: Graph, threshold: Value, most: float) -> Value:
    """The step between levels, threshold / most, rounded as the factor that the engine multiplies by is.

    The fewest values then fall to other levels: about one of a million does.
    """
    if threshold.array is not None:
        number = threshold.array.dtype.type
        with np.errstate(divide="ignore"):  # by a threshold of zero, whose step is zero
            factor = number(most) * (number(1) / threshold.array)
        return g.constant((1 / factor.astype(np.float64)).astype(number))
    factor = g.Mul(g.Reciprocal(threshold), g.like(most, threshold))
    return g.Reciprocal(factor)


def _across(g: Graph, threshold: Value, x: Value, axis: int) -> Value:
    """Thresholds in the shape that broadcasts against ``x``."""
    if axis < 0 or axis == x.ndim - 1:
        return threshold
    shape = [-1, *[1] * (x.ndim - 1 - axis)]
    if threshold.array is not None:
        return g.constant(threshold.array.reshape(shape))
    return g.Reshape(threshold, shape)


def _zero(g: Graph, threshold: Value) -> Any:
    """The zero point: 0, as often as there are thresholds."""
    if threshold.ndim == 0:
        return np.int8(0)
    count = threshold.shape[0]
    if count >= 0:
        return np.zeros(count, np.int8)
    return g.Expand(np.int8(0), g.Shape(threshold))


def _largest_absolute(g: Graph, x: Value, axis: int) -> Value:
    """The largest absolute value: [1], or [channels]; 0 of nothing."""
    channels = [size(g, x, axis)] if axis >= 0 else [1]
    if 0 in x.shape:
        return filled(g, 0, channels, x.dtype)
    others = [n for n in range(x.ndim) if n != axis]
    if axis < 0:
        each = g.Concat(g.Reshape(g.Abs(x), [-1]), g.constant(np.zeros(1, x.dtype)), axis=0)
        return typed(g.ReduceMax(each, axes=[0], keepdims=1), [1], x.dtype)
    made = g.ReduceMax(g.Abs(x), axes=others, keepdims=0) if others else g.Abs(x)
    return typed(made, [x.shape[axis]], x.dtype)


def _integers(g: Graph, x: Value, threshold: Value, axis: int, bits: int, round_type: int) -> Value:
    """The integers of ``x`` as int8, or as values of its dtype where there are more or fewer bits.

    ``threshold`` is as ``_threshold`` gives it. Halves are rounded to even: away from zero, as round_type 1
    does, only where this is arithmetic.
    """
    wide = _across(g, threshold, x, axis)
    if round_type == 1:
        x = _between(g, x, wide)
    if bits == 8 and x.dtype == "float32":
        along = axis if threshold.ndim else None
        made = g.QuantizeLinear(x, _step(g, threshold, 127), _zero(g, threshold), axis=along)
        return typed(made, x.shape, "int8")
    most = g.like(largest(bits), x)
    scaled = g.Mul(x, g.Div(most, wide))
    if round_type == 1:
        below_half = np.nextafter(g.like(0.5, x), g.like(0, x))
        away = g.Mul(g.Sign(scaled), g.Floor(g.Add(g.Abs(scaled), below_half)))
        return typed(away, x.shape, x.dtype)
    return typed(g.Clip(g.Round(scaled), -most - g.like(1, x), most), x.shape, x.dtype)


def _between(g: Graph, x: Value, threshold: Value) -> Value:
    """``x`` up to the threshold, of both signs."""
    if threshold.array is not None and threshold.ndim == 0:
        made = g.Clip(x, -threshold.array, threshold.array)
    else:
        made = g.Max(g.Min(x, threshold), g.Neg(threshold))
    return typed(made, x.shape, x.dtype)


def _values(g: Graph, q: Value, threshold: Value, x: Value, axis: int, most: float, dtype: str) -> Value:
    """What the integers ``q`` represent.

    Of integers this is always DequantizeLinear: floating weights that are read next to quantized values are
    quantized by ONNX Runtime itself, by 8 bits. Those of other numbers of bits are read as int32, of which it
    makes no integer products: it would round biases to the product of both steps.
    """
    if q.dtype in ("int8", "int16", "int32") and dtype == "float32":
        along = axis if threshold.ndim else None
        step = _step(g, threshold, most)
        if q.dtype == "int8" and most == 127:
            return g.DequantizeLinear(q, step, _zero(g, threshold), axis=along)
        return g.DequantizeLinear(q if q.dtype == "int32" else g.cast(q, "int32"), step, axis=along)
    numbers = q if q.dtype == dtype else g.cast(q, dtype)
    return g.Div(g.Mul(numbers, _across(g, threshold, x, axis)), np.asarray(most, dtype))


def _quantized(
    g: Graph, x: Value, given: Value, axis: int, bits: int, round_type: int, back: bool = False
) -> Value:
    """The integers in the dtype of ``x``, or with ``back`` what they represent."""
    threshold = _threshold(g, given, axis)
    q = _integers(g, x, threshold, axis, bits, round_type)
    if back:
        return _values(g, q, threshold, x, axis, largest(bits), x.dtype)
    return q if q.dtype == x.dtype else g.cast(q, x.dtype)


def _as_integers(g: Graph, x: Value) -> Value:
    """``x``, or the int8 that it was cast from; weights that hold integers as int8 or int16."""
    found = g.cast_from(x)
    if found is not None:
        return typed(found, x.shape, "int8")
    if x.array is None or x.array.dtype.kind != "f" or not np.array_equal(x.array, np.rint(x.array)):
        return x
    most = np.abs(x.array).max(initial=0)
    dtype = "int8" if most < 128 else "int16"
    return x if most >= 1 << 15 else g.changed(x, dtype, lambda array: array.astype(dtype))


# -- largest absolute values of the current input ------------------------------------------------------------
def _by_current(name: str, back: bool) -> None:
    @writes(name)
    def _(g: Graph, x: Value, kept: Value | None, *, bit_length: int, round_type: int) -> tuple[Value, Value]:
        found = _largest_absolute(g, x, -1)
        made = _quantized(g, x, found, -1, bit_length, round_type, back)
        return made, found if kept is None else g.Reshape(found, g.Shape(kept))


_by_current("fake_quantize_abs_max", False)
_by_current("fake_quantize_dequantize_abs_max", True)


@writes("fake_channel_wise_quantize_abs_max")
def _(
    g: Graph,
    x: Value,
    kept: Value | None,
    *,
    bit_length: int,
    round_type: int,
    quant_axis: int,
    is_test: bool,
) -> tuple[Value, Value | None]:
    given = kept is not None and is_test
    found = kept if kept is not None and is_test else _largest_absolute(g, x, quant_axis)
    return _quantized(g, x, found, quant_axis, bit_length, round_type), None if given else found


@writes("fake_channel_wise_quantize_dequantize_abs_max")
def _(
    g: Graph, x: Value, kept: Value | None, *, bit_length: int, round_type: int, quant_axis: int
) -> tuple[Value, Value]:
    found = _largest_absolute(g, x, quant_axis)
    return _quantized(g, x, found, quant_axis, bit_length, round_type, True), found


# -- thresholds that followed training -----------------------------------------------------------------------
def _by_average(name: str, back: bool) -> None:
    @writes(name, ignoring="moving_rate is_test")
    def _(
        g: Graph,
        x: Value,
        in_scale: Value,
        in_accum: Value | None,
        in_state: Value | None,
        *,
        bit_length: int,
        round_type: int,
    ) -> tuple[Value | None, ...]:
        return _quantized(g, x, in_scale, -1, bit_length, round_type, back), None, None, None


_by_average("fake_quantize_moving_average_abs_max", False)
_by_average("fake_quantize_dequantize_moving_average_abs_max", True)


@writes("moving_average_abs_max_scale", ignoring="moving_rate is_test")
def _(
    g: Graph, x: Value, in_accum: Value | None, in_state: Value | None, kept: Value | None
) -> tuple[Value | None, ...]:
    return x, None, None, None


@writes("fake_quantize_range_abs_max", ignoring="window_size is_test")
def _(
    g: Graph,
    x: Value,
    in_scale: Value,
    iteration: Value | None,
    scales: Value | None,
    *,
    bit_length: int,
    round_type: int,
) -> tuple[Value | None, ...]:
    return _quantized(g, x, in_scale, -1, bit_length, round_type), None, None


# -- given thresholds ----------------------------------------------------------------------------------------
@writes("quantize_linear", ignoring="is_test moving_rate")
def _(
    g: Graph,
    x: Value,
    scale: Value,
    zero_point: Value | None,
    in_accum: Value | None,
    in_state: Value | None,
    *,
    quant_axis: int,
    bit_length: int,
    round_type: int,
    only_observer: bool,
) -> tuple[Value | None, ...]:
    made = x if only_observer else _quantized(g, x, scale, quant_axis, bit_length, round_type)
    return made, None, None, None


def _plain(g: Graph, given: Value, axis: int) -> Value:
    """A threshold without dimensions or [channels], as it is."""
    shape = [-1] if axis >= 0 else []
    if given.array is not None:
        return g.constant(given.array.reshape(shape))
    known = [given.shape[0] if given.ndim else 1] if axis >= 0 else []
    return typed(g.Reshape(given, shape), known, given.dtype)


@writes("dequantize_linear", ignoring="round_type is_test")
def _(
    g: Graph,
    x: Value,
    scale: Value,
    zero_point: Value | None,
    *,
    quant_axis: int,
    bit_length: int,
    only_observer: bool,
) -> Value:
    if only_observer:
        return x
    most = largest(bit_length)
    return _values(g, _as_integers(g, x), _plain(g, scale, quant_axis), x, quant_axis, most, scale.dtype)


@writes("fake_dequantize_max_abs")
def _(g: Graph, x: Value, scale: Value, *, max_range: float) -> Value:
    return _values(g, _as_integers(g, x), _plain(g, scale, -1), x, -1, max_range, x.dtype)


@writes("fake_channel_wise_dequantize_max_abs")
def _(
    g: Graph, x: Value, scales: Sequence[Value], *, quant_bits: Any, quant_axis: int, x_num_col_dims: int
) -> Value:
    axis = quant_axis if len(scales) == 1 else max(x_num_col_dims, 1)
    threshold = _plain(g, scales[0], axis)
    if len(scales) == 1:
        return _values(g, _as_integers(g, x), threshold, x, axis, largest(quant_bits[0]), x.dtype)
    most = largest(quant_bits[0]) * largest(quant_bits[1])
    both = g.Mul(g.Mul(x, _across(g, threshold, x, axis)), g.Reshape(scales[1], []))
    return g.Div(both, g.like(most, x))


@writes("dequantize_abs_max")
def _(g: Graph, x: Value, scale: Value, *, max_range: float) -> Value:
    return _values(g, x, _plain(g, scale, -1), x, -1, max_range, scale.dtype)


@writes("dequantize_log")
def _(g: Graph, x: Value, magnitudes: Value) -> Value:
    place = g.cast(x, "int64")
    below = g.Less(place, 0)
    found = g.Gather(flat(g, magnitudes), g.Where(below, g.Add(place, 128), place), axis=0)
    return g.Where(below, g.Neg(found), found)


# -- products of integers, of files that were optimized ------------------------------------------------------
@writes("integer_factor")
def _(g: Graph, x_scale: Value, y_scale: Value, *, bits: Any, repeats: int) -> Value:
    one, other = (g.cast(g.Reshape(each, [-1]), "float64") for each in (x_scale, y_scale))
    most = np.asarray([largest(bits[0]) * largest(bits[1])], np.float64)
    factor = g.cast(g.Div(g.Mul(one, other), most), x_scale.dtype)
    return g.Tile(factor, [repeats]) if repeats > 1 else factor


def _operands(g: Graph, x: Value, y: Value, bits: Any) -> tuple[list[Value], str]:
    """Both sides in one dtype in which the product is exact, and the kind of the node."""
    dtype = "int8" if max(bits) <= 8 else "float64"
    sides = []
    for each in (x, y):
        whole = _as_integers(g, each) if dtype == "int8" else each
        sides.append(whole if whole.dtype == dtype else typed(g.cast(whole, dtype), each.shape, dtype))
    return sides, "MatMulInteger" if dtype == "int8" else "MatMul"


def _rescaled(g: Graph, sums: Value, factor: Value, ndim: int) -> Value:
    return g.Mul(g.cast(sums, factor.dtype), g.Reshape(factor, []) if ndim == 0 else factor)


@writes("mul_integer")
def _(
    g: Graph, x: Value, y: Value, factor: Value, *, bits: Any, x_num_col_dims: int, y_num_col_dims: int
) -> Value:
    (left, right), kind = _operands(g, x, y, bits)
    sums = flat_product(g, left, right, x_num_col_dims, y_num_col_dims, kind)
    return _rescaled(g, sums, factor, g.result().ndim)


@writes("matmul_v2_integer")
def _(g: Graph, x: Value, y: Value, factor: Value, *, bits: Any, trans_x: bool, trans_y: bool) -> Value:
    (left, right), kind = _operands(g, x, y, bits)
    return _rescaled(g, product(g, left, right, trans_x, trans_y, kind), factor, g.result().ndim)


def _convolution(name: str) -> None:
    plain, names = ROWS[name.removesuffix("_integer")]

    def row(
        g: Graph,
        x: Value,
        weight: Value,
        factor: Value,
        bias: Value | None,
        *,
        bits: Any,
        activation: str,
        **attrs: Any,
    ) -> Value:
        dtype = factor.dtype
        x, weight = (
            each if each.dtype == dtype else typed(g.cast(each, dtype), each.shape, dtype)
            for each in (x, weight)
        )
        shape = [-1] if attrs["data_format"][-1] == "C" else [-1, *[1] * (x.ndim - 2)]
        made = g.Mul(plain(g, x, weight, **attrs), g.Reshape(factor, shape))
        made = made if bias is None else g.Add(made, g.Reshape(bias, shape))
        return g.Relu(made) if activation else made

    ROWS[name] = row, ("bits", "activation", *names)


for _name in ("conv2d", "depthwise_conv2d", "conv2d_transpose", "depthwise_conv2d_transpose"):
    _convolution(f"{_name}_integer")
