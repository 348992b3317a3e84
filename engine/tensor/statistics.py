"""Statistics: variance, median, quantiles, mode, histograms, covariance."""

from __future__ import annotations

from typing import Any

from engine.ops import math as ops
from engine.ops import reduce as reduce_ops
from engine.tensor.math import divide, multiply, subtract
from engine.tensor.reduction import axes_of


def var(
    x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None
) -> Any:
    """Variance over ``axis``; divided by n - 1 if unbiased (by 1 for one element, whose variance is 0)."""
    where = axes_of(axis)
    centred = subtract(x, reduce_ops.mean(x, keepdim=True, **where))
    total = reduce_ops.mean(ops.square(centred), keepdim=keepdim, **where)
    if not unbiased:
        return total
    sizes = [x.shape[a] for a in (range(x.ndim) if where["reduce_all"] else where["axis"])]
    if -1 in sizes:
        count = reduce_ops.count(total, x, **where)
        return multiply(total, divide(count, ops.clip(subtract(count, 1.0), min=1.0)))
    number = reduce_ops.prod_of(sizes)
    return multiply(total, number / (number - 1 or 1))


def std(
    x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None
) -> Any:
    """Standard deviation over ``axis``."""
    return ops.sqrt(var(x, axis, unbiased, keepdim))
