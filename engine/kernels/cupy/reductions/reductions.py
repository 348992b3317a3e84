"""Sums, means, extremes, norms and log-sums of rows on a GPU: one launch, two where rows are few and long.

CuPy's own sums give the same bits each time on one GPU, but other ones on another GPU, and means, norms and
log-sums take several launches. Here the order of a sum depends on sizes only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.core.operators.infer import reduced_axes
from engine.kernels.cupy.defaults import handed_over
from engine.kernels.cupy.reductions.rows import computing, packed, rows_of
from engine.kernels.cupy.source import FLOATING, blocks, kernel, of_type

_WHAT = {
    "total": 0,
    "mean": 1,
    "largest": 2,
    "smallest": 3,
    "absolutes": 4,
    "euclidean": 5,
    "nonzeros": 6,
    "powers": 7,
    "largest absolute": 8,
    "smallest absolute": 9,
}
_WHOLE = ("int32", "int64")


def _axes(x: Any, axis: Any, reduce_all: bool) -> tuple[int, ...]:
    if reduce_all or not axis:
        return tuple(range(x.ndim))
    return tuple(reduced_axes("reduce", axis, x.ndim))


def _reduced(xp: Any, what: str, x: Any, axes: tuple[int, ...], power: float = 1.0) -> Any:
    """The rows of x over ``axes`` reduced, flat; None if the default kernel has to serve or refuse them."""
    if x.dtype.name not in FLOATING and (x.dtype.name not in _WHOLE or _WHAT[what] not in (0, 2, 3)):
        return None
    rows = rows_of(x.shape, axes, True)
    if rows is None:
        return None
    (x,) = packed(x)
    number: Any = computing(x.dtype) if x.dtype.name in FLOATING else x.dtype.type
    macros = {**of_type(x.dtype), "WHAT": _WHAT[what]}
    made = xp.empty(rows.count, x.dtype)
    parts = xp.empty(rows.parts * rows.count if rows.parts > 1 else 1, number)
    rows.launch("reductions", "reduce", macros, x, made, parts, rows, number(power))
    if rows.parts > 1:
        sizes = (np.int64(rows.count), np.uint32(rows.parts), np.uint64(rows.length), number(power))
        kernel("reductions", "join", **macros)((blocks(rows.count),), (256,), (parts, made, *sizes))
    return made


def _shaped(made: Any, x: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    sizes = [1 if n in axes else d for n, d in enumerate(x.shape) if keepdim or n not in axes]
    return made.reshape(sizes)


def _reduction(name: str, what: str) -> Any:
    def run(xp: Any, x: Any, *, axis: Any = (), keepdim: bool = False, reduce_all: bool = False) -> Any:
        axes = _axes(x, axis, reduce_all)
        made = _reduced(xp, what, x, axes)
        if made is None:
            return handed_over(name, xp, x, axis=axis, keepdim=keepdim, reduce_all=reduce_all)
        return _shaped(made, x, axes, keepdim)

    return run


reduce_sum = _reduction("reduce_sum", "total")
reduce_mean = _reduction("reduce_mean", "mean")
reduce_max = _reduction("reduce_max", "largest")
reduce_min = _reduction("reduce_min", "smallest")
reduce_amax = _reduction("reduce_amax", "largest")
reduce_amin = _reduction("reduce_amin", "smallest")


def sum_to_like(xp: Any, x: Any, y: Any) -> Any:
    """x summed over the axes along which y is broadcast to it; x itself where there are none."""
    extra = x.ndim - y.ndim
    if x.shape == y.shape:
        return x[...]
    to = y.shape[max(-extra, 0) :]
    axes = tuple(range(max(extra, 0)))
    axes += tuple(n + len(axes) for n, d in enumerate(to) if d == 1 and x.shape[n + len(axes)] != 1)
    made = _reduced(xp, "total", x, axes) if axes else None
    return handed_over("sum_to_like", xp, x, y) if made is None else made.reshape(y.shape)


def logsumexp(xp: Any, x: Any, *, axis: Any = (), keepdim: bool = False, reduce_all: bool = False) -> Any:
    """log(sum(exp(x))), without overflow."""
    axes = _axes(x, axis, reduce_all)
    rows = rows_of(x.shape, axes) if x.dtype.name in FLOATING else None
    if rows is None:
        return handed_over("logsumexp", xp, x, axis=axis, keepdim=keepdim, reduce_all=reduce_all)
    (packed_x,) = packed(x)
    made = xp.empty(rows.count, x.dtype)
    rows.launch("log_sums", "logsumexp", of_type(x.dtype), packed_x, made, rows)
    return _shaped(made, x, axes, keepdim)


_NORMS = {1.0: "absolutes", 2.0: "euclidean", 0.0: "nonzeros"}


def p_norm(
    xp: Any,
    x: Any,
    *,
    porder: float = 2.0,
    axis: int = -1,
    epsilon: float = 1e-12,
    keepdim: bool = False,
    asvector: bool = False,
) -> Any:
    """(sum of |x|**p) ** (1/p) along an axis, over everything with ``asvector``."""
    axes = tuple(range(x.ndim)) if asvector or x.ndim == 0 else (axis % x.ndim,)
    what = _NORMS.get(porder, "powers")
    if math.isinf(porder):
        what = "largest absolute" if porder > 0 else "smallest absolute"
    made = _reduced(xp, what, x, axes, porder if what == "powers" else 1.0)
    if made is None:
        return handed_over(
            "p_norm", xp, x, porder=porder, axis=axis, epsilon=epsilon, keepdim=keepdim, asvector=asvector
        )
    return _shaped(made, x, axes, keepdim)
