"""Rows of ``engine.ops.reductions``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.operators.infer import normal_axes
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.scans import scanned
from engine.onnx.writes.sizes import (
    Size,
    computed,
    filled,
    flat,
    joined,
    size,
    sizes,
    total,
    typed,
)

_FLOATING = {"float32", "float64"}
_REDUCED = {"int32", "int64", "float32", "float64"}  # what ONNX Runtime has reductions of


def _axes(axis: Any, ndim: int, reduce_all: bool) -> list[int]:
    return list(range(ndim)) if reduce_all or not axis else sorted(normal_axes("reduce", axis, ndim))


# -- over axes -----------------------------------------------------------------------------------------------
def _reduction(name: str, reduce: Callable[[Graph, Value, list[int], int], Value]) -> None:
    @writes(name)
    def _(g: Graph, x: Value, *, axis: Any, keepdim: bool, reduce_all: bool) -> Value:
        dtype = g.result().dtype.name
        if x.ndim == 0:  # nothing to reduce
            one = typed(g.Reshape(x, [1]), [1], x.dtype)
            return g.Reshape(reduce(g, one, [0], 1), [])
        return reduce(g, x, _axes(axis, x.ndim, reduce_all), int(keepdim)) if dtype else x


def _in_int32(kind: str) -> Callable[[Graph, Value, list[int], int], Value]:
    """A reduction with its axes as attribute; of small integers in int32."""

    def reduce(g: Graph, x: Value, axes: list[int], keepdims: int) -> Value:
        fits = x.dtype in _REDUCED
        made = getattr(g, kind)(x if fits else g.cast(x, "int32"), axes=axes, keepdims=keepdims)
        return made if fits else g.cast(made, x.dtype)

    return reduce


def _summed(g: Graph, x: Value, axes: list[int], keepdims: int) -> Value:
    fits = x.dtype in _REDUCED
    made = g.ReduceSum(x if fits else g.cast(x, "int32"), axes, keepdims=keepdims)
    return made if fits else g.cast(made, x.dtype)


def _mean(g: Graph, x: Value, axes: list[int], keepdims: int) -> Value:
    if 0 in [x.shape[n] for n in axes]:
        return g.Div(g.ReduceSum(x, axes, keepdims=keepdims), g.like(0, x))
    return g.ReduceMean(x, axes=axes, keepdims=keepdims)


def log_sum_exp(g: Graph, x: Value, axes: list[int], keepdims: int) -> Value:
    """Without overflow; -inf of none."""
    if 0 in [x.shape[n] for n in axes]:
        return g.Log(g.ReduceSum(x, axes, keepdims=keepdims))
    largest = g.ReduceMax(x, axes=axes, keepdims=1)
    endless = g.Or(g.IsInf(largest), g.IsNaN(largest))
    largest = g.Where(endless, g.like(0, x), largest)
    made = g.Add(g.Log(g.ReduceSum(g.Exp(g.Sub(x, largest)), axes, keepdims=1)), largest)
    return made if keepdims else g.Squeeze(made, axes)


def _any(g: Graph, x: Value, axes: list[int], keepdims: int) -> Value:
    true = x if x.dtype == "bool" else g.cast(x, "bool")
    return g.Greater(g.ReduceSum(g.cast(true, "int32"), axes, keepdims=keepdims), np.int32(0))


def _all(g: Graph, x: Value, axes: list[int], keepdims: int) -> Value:
    false = g.Not(x if x.dtype == "bool" else g.cast(x, "bool"))
    return g.Equal(g.ReduceSum(g.cast(false, "int32"), axes, keepdims=keepdims), np.int32(0))


_reduction("reduce_sum", _summed)
_reduction("reduce_mean", _mean)
_reduction("reduce_max", _in_int32("ReduceMax"))
_reduction("reduce_min", _in_int32("ReduceMin"))
_reduction("reduce_amax", _in_int32("ReduceMax"))
_reduction("reduce_amin", _in_int32("ReduceMin"))
_reduction("reduce_prod", _in_int32("ReduceProd"))
_reduction("logsumexp", log_sum_exp)
_reduction("reduce_any", _any)
_reduction("reduce_all", _all)


@writes("reduce_expand")
def _(
    g: Graph, x: Value, x_like: Value | None, *, shape: Any, axis: Any, keepdim: bool, reduce_all: bool
) -> Value:
    wanted = sizes(g, x_like) if x_like is not None else list(shape)
    axes = _axes(axis, len(wanted), reduce_all)
    if not keepdim and axes:
        x = g.Unsqueeze(x, axes)
    return g.Expand(x, joined(g, wanted))


@writes("reduce_count")
def _(g: Graph, like: Value, x: Value, *, axis: Any, reduce_all: bool) -> Value:
    count = total(g, [size(g, x, n) for n in _axes(axis, x.ndim, reduce_all)])
    if isinstance(count, int):
        return g.constant(g.like(max(count, 1), like))
    return g.cast(g.Squeeze(g.Max(count, [1]), [0]), like.dtype)


@writes("p_norm")
def _(
    g: Graph, x: Value, *, porder: float, axis: int, epsilon: float, keepdim: bool, asvector: bool
) -> Value:
    given, keepdims = x, int(keepdim)
    if x.ndim == 0:
        x = typed(g.Reshape(x, [1]), [1], x.dtype)
    axes = list(range(x.ndim)) if asvector else [axis % x.ndim]
    absolute = g.Abs(x)
    if porder == 0:
        made = g.ReduceSum(g.cast(g.Not(g.Equal(x, g.like(0, x))), x.dtype), axes, keepdims=keepdims)
    elif math.isinf(porder):
        made = (g.ReduceMax if porder > 0 else g.ReduceMin)(absolute, axes=axes, keepdims=keepdims)
    elif porder == 1:
        made = g.ReduceSum(absolute, axes, keepdims=keepdims)
    elif porder == 2:
        made = g.Sqrt(g.ReduceSum(g.Mul(x, x), axes, keepdims=keepdims))
    else:
        summed = g.ReduceSum(g.Pow(absolute, g.like(porder, x)), axes, keepdims=keepdims)
        made = g.Pow(summed, g.like(1 / porder, x))
    return g.Reshape(made, []) if given.ndim == 0 else made


# -- positions -----------------------------------------------------------------------------------------------
def _position(name: str, kind: str) -> None:
    @writes(name, ignoring="dtype")
    def _(g: Graph, x: Value, *, axis: int, keepdims: bool, flatten: bool) -> Value:
        read = x if x.dtype in _REDUCED else typed(g.cast(x, "int32"), x.shape, "int32")
        along = flatten or x.ndim == 0
        made = getattr(g, kind)(
            flat(g, read) if along else read,
            axis=0 if along else axis,
            keepdims=0 if along else int(keepdims),
        )
        if along and keepdims and x.ndim:
            made = g.Reshape(made, [1] * x.ndim)
        dtype = g.result().dtype.name
        return made if dtype == "int64" else g.cast(made, dtype)


_position("arg_max", "ArgMax")
_position("arg_min", "ArgMin")


# -- along an axis -------------------------------------------------------------------------------------------
def _laid_out(g: Graph, x: Value, axis: int, flatten: bool) -> tuple[Value, int]:
    """``x`` with at least one dimension, and the axis to run along."""
    return (flat(g, x), 0) if flatten or x.ndim == 0 else (x, axis % x.ndim)


@writes("cumsum")
def _(g: Graph, x: Value, *, axis: int, flatten: bool, exclusive: bool, reverse: bool) -> Value:
    along, axis = _laid_out(g, x, axis, flatten)
    made = g.CumSum(along, np.asarray(axis, np.int64), exclusive=int(exclusive), reverse=int(reverse))
    return made if flatten or x.ndim else g.Reshape(made, [])


def _running(
    g: Graph,
    x: Value,
    axis: int,
    first: Any,
    step: Callable[..., Sequence[Value]],
    more: Sequence[tuple[Any, str]] = (),
) -> list[Value]:
    """What ``step(inner, *states, element)`` stacks: at most two states.

    They start as ``first``, in the dtype of ``x``, and as the numbers of ``more``.
    """
    if 0 in x.shape:  # nothing to do, which runtimes fail at
        return [x, *(filled(g, 0, sizes(g, x), dtype) for _, dtype in more[:1])]
    rest = [part for n, part in enumerate(sizes(g, x)) if n != axis]
    numbers = [(first, x.dtype), *more]
    starts = [(filled(g, number, rest, dtype), dtype, len(rest)) for number, dtype in numbers]

    def body(inner: Graph, *given: Value) -> list[Value]:
        states = list(step(inner, *given))
        return [*states, *states[: len(kinds)]]

    kinds = [(dtype, ndim) for _, dtype, ndim in starts][:2]
    return scanned(g, body, starts, [(x, x.dtype, len(rest))], axis, made=kinds)[len(starts) :]


@writes("cumprod")
def _(g: Graph, x: Value, *, dim: int) -> Value:
    along, axis = _laid_out(g, x, dim, False)
    (made,) = _running(g, along, axis, 1, lambda inner, state, each: [inner.Mul(state, each)])
    return made if x.ndim else g.Reshape(made, [])


@writes("logcumsumexp")
def _(g: Graph, x: Value, *, axis: int, flatten: bool) -> Value:
    def step(inner: Graph, state: Value, each: Value) -> list[Value]:
        apart = inner.Where(inner.Equal(state, each), inner.like(0, x), inner.Sub(state, each))
        tail = inner.Log(inner.Add(inner.Exp(inner.Neg(inner.Abs(apart))), inner.like(1, x)))
        return [inner.Add(inner.Max(state, each), tail)]

    along, axis = _laid_out(g, x, axis, flatten)
    (made,) = _running(g, along, axis, -np.inf, step)
    return made if flatten or x.ndim else g.Reshape(made, [])


def _extreme(name: str, kind: str, passes: str) -> None:
    @writes(name, ignoring="dtype")
    def _(g: Graph, x: Value, *, axis: int) -> tuple[Value, Value]:
        def step(inner: Graph, state: Value, place: Value, number: Value, each: Value) -> list[Value]:
            reached = getattr(inner, passes)(each, state)
            made = getattr(inner, kind)(state, each)
            if x.dtype in _FLOATING:
                nan = inner.And(inner.IsNaN(each), inner.Not(inner.IsNaN(state)))
                reached, made = inner.Or(reached, nan), inner.Where(inner.IsNaN(state), state, made)
                made = inner.Where(nan, each, made)
            return [made, inner.Where(reached, number, place), inner.Add(number, 1)]

        along, axis = _laid_out(g, x, axis, False)
        worst = np.inf if x.dtype in _FLOATING else np.iinfo(x.dtype).max
        first = (-np.inf if x.dtype in _FLOATING else np.iinfo(x.dtype).min) if kind == "Max" else worst
        values, places = _running(g, along, axis, first, step, [(0, "int64"), (0, "int64")])
        dtype = g.result(1).dtype.name
        places = places if dtype == "int64" else g.cast(places, dtype)
        return (values, places) if x.ndim else (g.Reshape(values, []), g.Reshape(places, []))


_extreme("cummax", "Max", "GreaterOrEqual")
_extreme("cummin", "Min", "LessOrEqual")


# -- statistics ----------------------------------------------------------------------------------------------
@writes("quantile")
def _(g: Graph, x: Value, *, q: Any, ignore_nan: bool) -> tuple[Value, ...]:
    """NaN are sorted to the end."""
    count = size(g, x, -1)
    unknown = g.IsNaN(x)
    filled_up = g.Where(unknown, g.like(np.inf, x), x)
    _, order = g.node("TopK", filled_up, joined(g, [count]), outputs=2, axis=-1, largest=0, sorted=1)
    missing = g.ReduceSum(g.cast(unknown, "int64"), [-1], keepdims=1)
    last = joined(g, [computed(g, "Sub", count, 1)])
    top = g.Max(g.Sub(last, missing), 0) if ignore_nan else g.Add(g.Mul(missing, 0), last)
    position = g.Mul(g.cast(top, "float64"), np.asarray(q, np.float64))
    low = g.Floor(position)
    weight = g.cast(g.Sub(position, low), x.dtype)
    below = g.cast(low, "int64")
    above = g.Min(g.Add(below, 1), top)
    if not ignore_nan:
        some = g.Greater(missing, 0)
        below, above = (g.Where(some, last, place) for place in (below, above))
    low, high = (g.GatherElements(order, place, axis=x.ndim - 1) for place in (below, above))
    start, end = (g.GatherElements(x, place, axis=x.ndim - 1) for place in (low, high))
    between = g.Add(start, g.Mul(weight, g.Sub(end, start)))
    out = g.Where(g.Equal(weight, g.like(0, x)), start, between)
    if not ignore_nan:
        out = g.Where(some, g.like(np.nan, x), out)
    return out, low, high, weight


def _added_up(g: Graph, places: Value, values: Value, count: Size, dtype: str) -> Value:
    """The sums of the values at each place of one dimension."""
    return g.ScatterElements(filled(g, 0, [count], dtype), places, values, axis=0, reduction="add")


@writes("histogram")
def _(g: Graph, x: Value, *, bins: int, min: float, max: float) -> Value:
    """Elements out of range are counted in one more part, which is cut off."""
    dtype = x.dtype if x.dtype in _REDUCED else "int32"
    x = flat(g, x if dtype == x.dtype else typed(g.cast(x, dtype), x.shape, dtype))
    number = np.dtype(dtype).type
    low: Any = number(min)
    high: Any = number(max)
    if low == high:
        nothing = [] if x.shape != (0,) else [np.asarray([low])]
        read = g.Concat(x, *nothing, axis=0) if nothing else x
        low, high = g.ReduceMin(read, keepdims=0), g.ReduceMax(read, keepdims=0)
        one = g.Equal(low, high)
        low, high = g.Where(one, g.Sub(low, number(1)), low), g.Where(one, g.Add(high, number(1)), high)
    within = g.And(g.GreaterOrEqual(x, low), g.LessOrEqual(x, high))
    scaled = g.Mul(g.Sub(x, low), number(bins))
    place = g.Min(g.cast(g.Div(scaled, g.Sub(high, low)), "int64"), bins - 1)
    place = g.Where(within, place, bins)
    ones = g.Expand(np.int64(1), g.Shape(x))
    return g.Slice(_added_up(g, place, ones, bins + 1, "int64"), [0], [bins])


@writes("bincount")
def _(g: Graph, x: Value, weights: Value | None, *, minlength: int) -> Value:
    places = x if x.dtype == "int64" else g.cast(x, "int64")
    most = g.ReduceMax(g.Concat(places, [minlength - 1], axis=0), axes=[0], keepdims=1)
    dtype = g.result().dtype.name
    if weights is None:
        values = g.Expand(np.int64(1), g.Shape(x))
    else:
        values = weights if weights.dtype == dtype else g.cast(weights, dtype)
    return _added_up(g, places, values, g.Add(most, [1]), dtype)
