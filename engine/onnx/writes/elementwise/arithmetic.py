"""Rows of arithmetic, comparison and functions that ONNX has, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value, numpy_dtype
from engine.onnx.writes.recorded import SMALL
from engine.onnx.writes.rows import same, writes
from engine.onnx.writes.sizes import typed


def common(
    g: Graph, x: Value, y: Value, axis: int = -1, dtype: str | None = None
) -> tuple[Value, Value, str]:
    """Two inputs as ONNX broadcasts them, in one dtype: ``dtype``, or what NumPy takes for both.

    ``axis`` is the one of ``x`` at which ``y`` begins; -1: both end together.
    """
    y = aligned(g, x, y, axis)
    wanted = dtype or np.result_type(numpy_dtype(x.dtype), numpy_dtype(y.dtype)).name
    made = "int32" if wanted in SMALL else wanted
    return _in(g, x, made), _in(g, y, made), wanted


def aligned(g: Graph, x: Value, y: Value, axis: int) -> Value:
    """``y`` with dimensions of one element behind its own, if it begins at an axis of ``x``."""
    count = x.ndim - axis - y.ndim
    if axis < 0 or count <= 0:
        return y
    made = g.Unsqueeze(y, [y.ndim + n for n in range(count)])
    return Value(made.name, y._known().with_shape([*y.shape, *[1] * count]))


def _in(g: Graph, x: Value, dtype: str) -> Value:
    return x if x.dtype == dtype else g.cast(x, dtype)


def _arithmetic(name: str, combine: Callable[[Graph, Value, Value], Value]) -> None:
    @writes(name)
    def _(g: Graph, x: Value, y: Value, *, axis: int) -> Value:
        dtype = g.result().dtype.name
        one, other, wanted = common(g, x, y, axis, dtype)
        made = combine(g, one, other)
        return g.cast(made, wanted) if wanted in SMALL else made


def _logic(name: str, combine: Callable[[Graph, Value, Value], Value]) -> None:
    @writes(name)
    def _(g: Graph, x: Value, y: Value) -> Value:
        return combine(g, _in(g, x, "bool"), _in(g, y, "bool"))


def _comparison(name: str, combine: Callable[[Graph, Value, Value], Value]) -> None:
    @writes(name)
    def _(g: Graph, x: Value, y: Value, *, axis: int) -> Value:
        one, other, _ = common(g, x, y, axis)
        return combine(g, one, other)


_arithmetic("elementwise_add", lambda g, x, y: g.Add(x, y))
_arithmetic("elementwise_sub", lambda g, x, y: g.Sub(x, y))
_arithmetic("elementwise_mul", lambda g, x, y: g.Mul(x, y))
_arithmetic("elementwise_max", lambda g, x, y: g.Max(x, y))
_arithmetic("elementwise_min", lambda g, x, y: g.Min(x, y))
_arithmetic("elementwise_div", lambda g, x, y: g.Div(x, y))
_arithmetic("elementwise_pow", lambda g, x, y: g.Pow(x, y))
_comparison("equal", lambda g, x, y: g.Equal(x, y))
_comparison("not_equal", lambda g, x, y: g.Not(g.Equal(x, y)))
_comparison("less_than", lambda g, x, y: g.Less(x, y))
_comparison("less_equal", lambda g, x, y: g.LessOrEqual(x, y))
_comparison("greater_than", lambda g, x, y: g.Greater(x, y))
_comparison("greater_equal", lambda g, x, y: g.GreaterOrEqual(x, y))
_logic("logical_and", lambda g, x, y: g.And(x, y))
_logic("logical_or", lambda g, x, y: g.Or(x, y))
_logic("logical_xor", lambda g, x, y: g.Xor(x, y))

for _name, _kind in (
    ("sign", "Sign"), ("exp", "Exp"), ("log", "Log"),
    ("sqrt", "Sqrt"), ("reciprocal", "Reciprocal"), ("sin", "Sin"), ("cos", "Cos"), ("tan", "Tan"),
    ("asin", "Asin"), ("acos", "Acos"), ("atan", "Atan"), ("sinh", "Sinh"), ("cosh", "Cosh"),
    ("asinh", "Asinh"), ("acosh", "Acosh"), ("atanh", "Atanh"), ("erf", "Erf"),

):  # fmt: skip
    same(_name, _kind)


@writes("logical_not")
def _(g: Graph, x: Value) -> Value:
    return g.Not(_in(g, x, "bool"))


@writes("cast")
def _(g: Graph, x: Value, *, out_dtype: Any) -> Value:
    return g.cast(x, g.result().dtype.name)


@writes("scale")
def _(g: Graph, x: Value, *, scale: float, bias: float, bias_after_scale: bool) -> Value:
    """Integers are scaled as the engine does: in their own dtype."""
    made: Any = x
    steps = [("Mul", scale, 1), ("Add", bias, 0)]
    for kind, number, neutral in steps if bias_after_scale else steps[::-1]:
        if number != neutral or math.isnan(number):
            made = getattr(g, kind)(made, g.like(number, x))
    return g.Identity(x) if made is x else made


@writes("sum")
def _(g: Graph, xs: Sequence[Value]) -> Value:
    dtype = g.result().dtype.name
    if numpy_dtype(dtype).kind == "f":
        return g.Sum(*xs)
    made = xs[0]
    for x in xs[1:]:  # ONNX has no sum of integers
        one, other, _ = common(g, typed(made, xs[0].shape, dtype), x)
        made = g.Add(one, other)
        made = g.cast(made, dtype) if dtype in SMALL else made
    return made if len(xs) > 1 else g.Identity(made)
