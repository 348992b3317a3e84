"""Rows of sorting and of unique elements."""

from __future__ import annotations

from typing import Any

from engine.onnx.reads.rows import Sizes, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import require_size


@reads("TopK")
def _(X: Any, K: Sizes, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> Any:
    count = K[0]
    if not isinstance(count, int):  # only the running model knows it: the first of all, in order
        order = T.argsort(X, axis=axis, descending=bool(largest))
        along = axis % X.ndim
        order = T.slice(order, [along], [0], [count])
        return T.take_along_axis(X, order, along, False), T.cast(order, "int64")
    require_size([count])
    values, places = T.topk(X, count, axis=axis, largest=bool(largest), sorted=True)
    return values, T.cast(places, "int64")


@reads("Unique")
def _(X: Any, *, axis: int | None = None, sorted: int = 1) -> Any:
    """Unsorted ones are in the order in which they are met first."""
    found, first, inverse, counts = T.unique(
        X, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = T.reshape(inverse, [-1])
    if sorted:
        return found, first, inverse, counts
    order = T.argsort(first)
    rank = T.argsort(order)
    along = 0 if axis is None else axis
    return (
        T.gather(found, order, axis=along),
        T.gather(first, order),
        T.gather(rank, inverse),
        T.gather(counts, order),
    )
