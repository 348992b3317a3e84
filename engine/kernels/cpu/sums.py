"""Sums over the first or the last dimensions as products with ones, which BLAS does faster than NumPy adds.

Measured on float32, one thread: [16, 64, 128] over the last dimension 11 instead of 40 us, over the first
two 8 instead of 26; [16, 64, 512] over the first two 28 instead of 49.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from engine.kernels.cpu.ranges import LARGE, in_ranges

# NumPy adds long rows in pairs, which keeps more digits than BLAS's plain sums.
_LONGEST_ROW = 4096
_MOST_ROWS = 1 << 16  # vectors of ones that are cached


def summed(xp: Any, x: Any, axes: tuple[int, ...] | None, keepdims: bool = False) -> Any:
    """``x.sum(axes)`` in the dtype of x. ``axes`` count from the first dimension; None means all."""
    if xp is np and axes and x.flags.c_contiguous:
        way = by_ones(x.shape, x.dtype.char, axes, keepdims)
        if way is not None:
            return way(x)
    if xp is np and axes and x.size >= LARGE and len(axes) == x.ndim - 1 and x.dtype.kind in "fc":
        return _by_place(x, axes, keepdims)
    return xp.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)


@lru_cache(maxsize=1024)
def by_ones(
    shape: tuple[int, ...], letter: str, axes: tuple[int, ...], keepdims: bool
) -> Callable[[Any], Any] | None:
    """A function that sums contiguous arrays of this shape over ``axes`` as a product; None where NumPy is
    better."""
    ndim, count = len(shape), len(axes)
    low, high = min(axes), max(axes)
    if letter not in "fd" or not prod(shape) or high - low != count - 1 or count == ndim:
        return None
    if low == 0:
        rows, result = prod(shape[:count]), (*((1,) * count if keepdims else ()), *shape[count:])
        if rows > _MOST_ROWS:
            return None
        ones = _ones(rows, letter)
        if ndim == 2 and not keepdims:
            return lambda x: np.matmul(ones, x)
        return lambda x: np.matmul(ones, x.reshape(rows, -1)).reshape(result)
    length, result = prod(shape[low:]), (*shape[:low], *((1,) * count if keepdims else ()))
    if high != ndim - 1 or length > _LONGEST_ROW:
        return None
    ones = _ones(length, letter)
    return lambda x: np.matmul(x.reshape(-1, length), ones).reshape(result)


def _by_place(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The sum for each place of the one axis that stays, over the threads of the pool."""
    (rest,) = {*range(x.ndim)} - {*axes}
    made = np.empty(x.shape[rest], x.dtype)
    before = (slice(None),) * rest

    def add(part: slice) -> None:
        np.sum(x[(*before, part)], axis=axes, dtype=x.dtype, out=made[part])

    in_ranges(len(made), x.size, add)
    return made.reshape([n if at == rest else 1 for at, n in enumerate(x.shape)]) if keepdims else made


@lru_cache(maxsize=64)
def _ones(count: int, kind: str) -> Any:
    made = np.ones(count, kind)
    made.flags.writeable = False
    return made
