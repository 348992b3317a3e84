"""Rows of ``engine.ops.reductions``: reductions, cumulative sums, places of extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.onnx.reads.rows import Known, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import like, sizes_of


def _axes(data: Any, axes: Any, noop: int) -> list[int] | None:
    """The axes; None for no reduction."""
    if axes is None or not axes.size:
        return None if noop else list(range(data.ndim))
    return [int(axis) % max(data.ndim, 1) for axis in axes.reshape(-1)]


def _reduction(kind: str, function: Callable[..., Any], before: Any = None, after: Any = None) -> None:
    @reads(kind)
    def _(data: Any, axes: Known = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
        along = _axes(data, axes, noop_with_empty_axes)
        x = before(data) if before else data
        if along is None and kind in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"):
            return T.assign(x)
        if along is not None and data.ndim and along:
            x = function(x, along, bool(keepdims))
        elif function is T.logsumexp:
            return T.assign(data)
        return after(x) if after else x


def _sum(x: Any, axes: list[int], keep: bool) -> Any:
    return T.sum(x, axis=axes, keepdim=keep, dtype=x.dtype.name)


def _mean(x: Any, axes: list[int], keep: bool) -> Any:
    if not x.dtype.is_integer:
        return T.mean(x, axis=axes, keepdim=keep)
    return T.cast(T.mean(T.cast(x, "float64"), axis=axes, keepdim=keep), x.dtype.name)


def _largest(x: Any, axes: list[int], keep: bool) -> Any:
    if x.dtype.name == "bool":
        return T.any(x, axis=axes, keepdim=keep)
    return (
        _of_nothing(x, axes, keep, float("-inf")) if 0 in list(x.shape) else T.max(x, axis=axes, keepdim=keep)
    )


def _smallest(x: Any, axes: list[int], keep: bool) -> Any:
    if x.dtype.name == "bool":
        return T.all(x, axis=axes, keepdim=keep)
    return (
        _of_nothing(x, axes, keep, float("inf")) if 0 in list(x.shape) else T.min(x, axis=axes, keepdim=keep)
    )


def _of_nothing(x: Any, axes: list[int], keep: bool, value: float) -> Any:
    """The extreme of no elements."""
    sizes = sizes_of(x)
    made = [1 if n in axes else d for n, d in enumerate(sizes) if keep or n not in axes]
    if x.dtype.is_integer:
        limits = np.iinfo(x.dtype.name)
        return T.full(made, int(limits.min if value < 0 else limits.max), x.dtype.name)
    return T.full(made, value, x.dtype.name)


def _product(x: Any, axes: list[int], keep: bool) -> Any:
    return T.prod(x, axis=axes, keepdim=keep, dtype=x.dtype.name)


def _log_of_sum(x: Any, axes: list[int], keep: bool) -> Any:
    return T.logsumexp(x, axis=axes, keepdim=keep)


def _root(x: Any) -> Any:
    return T.cast(T.sqrt(T.cast(x, "float64")), x.dtype.name) if x.dtype.is_integer else T.sqrt(x)


_reduction("ReduceSum", _sum)
_reduction("ReduceMean", _mean)
_reduction("ReduceMax", _largest)
_reduction("ReduceMin", _smallest)
_reduction("ReduceProd", _product)
_reduction("ReduceL1", _sum, before=T.abs)
_reduction("ReduceL2", _sum, before=T.square, after=_root)
_reduction("ReduceSumSquare", _sum, before=T.square)
_reduction("ReduceLogSum", _sum, after=T.log)
_reduction("ReduceLogSumExp", _log_of_sum)


def _place(kind: str, function: Callable[..., Any]) -> None:
    @reads(kind)
    def _(data: Any, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Any:
        axis %= max(data.ndim, 1)
        if not select_last_index:
            return function(data, axis=axis, keepdim=bool(keepdims))
        found = function(T.flip(data, [axis]), axis=axis, keepdim=bool(keepdims))
        last = T.subtract(T.full([], data.shape[axis], "int64"), T.full([], 1, "int64"))
        return T.subtract(last, found)


_place("ArgMax", T.argmax)
_place("ArgMin", T.argmin)


@reads("CumSum")
def _(x: Any, axis: Known, *, exclusive: int = 0, reverse: int = 0) -> Any:
    return _cumulated(x, int(axis.reshape(-1)[0]), exclusive, reverse, lambda v, n: T.cumsum(v, n), 0)


@reads("CumProd")
def _(x: Any, axis: Known, *, exclusive: int = 0, reverse: int = 0) -> Any:
    return _cumulated(x, int(axis.reshape(-1)[0]), exclusive, reverse, lambda v, n: T.cumprod(v, n), 1)


def _cumulated(
    x: Any, axis: int, exclusive: int, reverse: int, function: Callable[..., Any], nothing: int
) -> Any:
    axis %= x.ndim
    x = T.flip(x, [axis]) if reverse else x
    if exclusive:
        first = T.slice(x, [axis], [0], [1])
        rest = T.slice(x, [axis], [0], [-1])
        x = T.concat([T.full_like(first, nothing), rest], axis=axis)
    made = function(x, axis)
    return T.flip(made, [axis]) if reverse else made


@reads("LpNormalization")
def _(input: Any, *, axis: int = -1, p: int = 2) -> Any:
    size = (
        T.sum(T.abs(input), axis=axis, keepdim=True)
        if p == 1
        else T.sqrt(T.sum(T.square(input), axis=axis, keepdim=True))
    )
    nothing = T.equal(size, like(0, size))
    return T.where(nothing, like(0, input), T.divide(input, T.where(nothing, like(1, size), size)))
