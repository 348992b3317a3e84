"""Rows of operations on the bits of integers, which opset 17 has of bool only, and on their divisors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.onnx.extra import onnx_package
from engine.onnx.writes.graph import Graph, Value, element_type
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import typed


def _wide(g: Graph, x: Value, y: Value) -> tuple[Value, Value]:
    """Both as int64."""
    return tuple(v if v.dtype == "int64" else g.cast(v, "int64") for v in (x, y))  # type: ignore[return-value]


def _both_set(g: Graph, x: Value, y: Value, bits: int) -> Value:
    """The bits set in both of two numbers of int64, of which the lowest ``bits`` count, from 0 upwards."""
    places = np.left_shift(np.int64(1), np.arange(bits, dtype=np.int64))

    def split(value: Value) -> Value:
        """Each bit as 0 or 1, in a new first dimension."""
        rank = g.result().ndim
        column = places.reshape((bits, *[1] * rank))
        return g.Mod(g.Div(g.Unsqueeze(value, [0]), column), np.int64(2))

    column = places.reshape((bits, *[1] * g.result().ndim))
    return g.ReduceSum(g.Mul(g.Mul(split(x), split(y)), column), [0], keepdims=0)


def _conjunction(g: Graph, x: Value, y: Value, width: int) -> Value:
    """The bits set in both numbers of int64, in two's complement of ``width`` bits."""
    rank = g.result().ndim
    x, y = (g.Expand(v, np.ones(rank, np.int64)) if rank else v for v in (x, y))
    half = min(width, 32)
    base = np.int64(1 << half)
    low_x, low_y = g.Mod(x, base), g.Mod(y, base)  # never negative
    low = _both_set(g, low_x, low_y, half)
    if width <= 32:  # a number from half of the range on stands for a negative one
        return g.Where(g.GreaterOrEqual(low, np.int64(1 << (half - 1))), g.Sub(low, base), low)
    high_x, high_y = g.Div(g.Sub(x, low_x), base), g.Div(g.Sub(y, low_y), base)
    high = _both_set(g, g.Mod(high_x, base), g.Mod(high_y, base), 32)
    signed = g.Where(g.GreaterOrEqual(high, np.int64(1 << 31)), g.Sub(high, base), high)
    return g.Add(g.Mul(signed, base), low)


def _bitwise(name: str, logic: str, combine: Callable[[Graph, Value, Value, Value], Value]) -> None:
    @writes(name)
    def _(g: Graph, x: Value, y: Value) -> Value:
        wanted = g.result().dtype.name
        if wanted == "bool":
            return getattr(g, logic)(x, y)  # type: ignore[no-any-return]
        one, other = _wide(g, x, y)
        both = _conjunction(g, one, other, 8 * np.dtype(wanted).itemsize)
        made = combine(g, one, other, both)
        return made if wanted == "int64" else g.cast(made, wanted)


_bitwise("bitwise_and", "And", lambda g, x, y, both: both)
_bitwise("bitwise_or", "Or", lambda g, x, y, both: g.Sub(g.Add(x, y), both))
_bitwise("bitwise_xor", "Xor", lambda g, x, y, both: g.Sub(g.Sub(g.Add(x, y), both), both))


@writes("bitwise_not")
def _(g: Graph, x: Value) -> Value:
    if x.dtype == "bool":
        return g.Not(x)
    wide = x if x.dtype == "int64" else g.cast(x, "int64")
    made = g.Sub(np.int64(255 if x.dtype == "uint8" else -1), wide)
    return made if x.dtype == "int64" else g.cast(made, x.dtype)


def _divisor(g: Graph, x: Value, y: Value) -> Value:
    """The greatest common divisor by Euclid, in a loop until no remainder is left."""
    helper, writer = onnx_package().helper, g.writer
    zero = np.int64(0)
    inner = Graph(writer, g)

    def info(name: str, dtype: str, shape: Any) -> Any:
        return helper.make_tensor_value_info(name, element_type(dtype), shape)

    def left(graph: Graph, rest: Value) -> Value:
        return graph.Greater(graph.ReduceSum(graph.Abs(graph.Sign(rest)), keepdims=0), zero)

    given = [typed(Value(writer.names.free("number")), g.result().shape, "int64") for _ in range(2)]
    number, flag = writer.names.free("iteration"), writer.names.free("goes_on")
    done = inner.Equal(given[1], zero)
    divided = inner.Where(done, np.int64(1), given[1])
    results = [
        inner.Where(done, given[0], given[1]),
        inner.Where(done, zero, inner.Mod(given[0], divided)),
    ]
    again = left(inner, results[1])
    shape = [None] * g.result().ndim
    body = inner.proto(
        "body",
        [info(number, "int64", []), info(flag, "bool", []), *(info(v.name, "int64", shape) for v in given)],
        [info(again.name, "bool", []), *(info(v.name, "int64", shape) for v in results)],
    )
    return g.node("Loop", None, left(g, y), x, y, outputs=2, body=body)[0]


def _divisors(g: Graph, x: Value, y: Value) -> tuple[Value, Value, Value]:
    one, other = _wide(g, x, y)
    zeros = g.Mul(g.Add(one, other), np.int64(0))  # both in the shape of the result
    one, other = g.Add(g.Abs(one), zeros), g.Add(g.Abs(other), zeros)
    return one, other, _divisor(g, one, other)


def _as_result(g: Graph, x: Value) -> Value:
    wanted = g.result().dtype.name
    return x if wanted == "int64" else g.cast(x, wanted)


@writes("gcd")
def _(g: Graph, x: Value, y: Value) -> Value:
    return _as_result(g, _divisors(g, x, y)[2])


@writes("lcm")
def _(g: Graph, x: Value, y: Value) -> Value:
    one, other, divisor = _divisors(g, x, y)
    return _as_result(g, g.Mul(g.Div(one, g.Max(divisor, np.int64(1))), other))
