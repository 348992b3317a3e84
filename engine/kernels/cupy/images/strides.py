"""Images and volumes as kernels read them: five strides in elements, three sizes."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

Triple = tuple[int, int, int]
# Places, and elements of a sample, that kernels count with 32 bits, and those next to them.
COUNTED = 1 << 30


def three(values: Any, missing: int) -> Triple:
    """Numbers of two or three dimensions as those of three: ``missing`` for the depth of an image."""
    first, second, third = [*[missing] * (3 - len(values)), *map(int, values)]
    return first, second, third


def strides_of(array: Any, rank: int, last: bool) -> tuple[Any, tuple[int, ...]]:
    """An array [N, C, ...] (``last``: [N, ..., C]) and its strides in elements: sample, channel, depth, row,
    column. It is copied where a sample spreads over more elements than 32 bits count."""
    steps = _steps(array)
    if sum(abs(t) * (n - 1) for t, n in zip(steps[1:], array.shape[1:], strict=True) if n) >= COUNTED:
        array = cupy.ascontiguousarray(array)
        steps = _steps(array)
    inner = slice(1, -1) if last else slice(2, None)
    return array, (steps[0], steps[-1 if last else 1], *(0,) * (3 - rank), *steps[inner])


def _steps(array: Any) -> list[int]:
    """Strides in elements; 0 along axes of one element, where a view may have any."""
    pairs = zip(array.shape, array.strides, strict=True)
    return [0 if length == 1 else step // array.itemsize for length, step in pairs]


def as_arguments(strides: tuple[int, ...]) -> tuple[Any, ...]:
    """Strides as parameters of a kernel: that of samples is an i64, the others are ints."""
    return (np.int64(strides[0]), *map(np.int32, strides[1:]))
