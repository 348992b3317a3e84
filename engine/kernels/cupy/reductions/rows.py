"""Rows that threads of a GPU share: how axes become rows, and how many threads take one.

The kernels of ``cuda/rows.cuh`` see an array as [K1][R1][K2][R2], where K are preserved and R are reduced.
Choices here depend on these sizes only, and so does the order of sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import cupy
import numpy as np

from engine.kernels.cupy.source import kernel

_WAYS = ("warp", "block", "column")  # as in rows.cuh
_CACHED = 4096  # layouts
_WARP_ROWS = 4  # rows of a block of which a warp takes each
_LONGEST_OF_WARP = 1024
_PART = {"warp": 4096, "block": 4096, "column": 256}  # elements of a row that one part has at least
_MOST_PARTS = 64
_ENOUGH_BLOCKS = 512  # more parts than fill a large device with blocks gain nothing
_LIMIT = 1 << 31


class Rows:
    """One way to cut an array into ``count`` rows of ``length`` elements, with the launch that serves it."""

    __slots__ = ("block", "count", "grid", "how", "length", "parts", "sizes")

    def __init__(self, sizes: tuple[int, int, int, int], in_parts: bool) -> None:
        k1, r1, k2, r2 = sizes
        self.count, self.length = k1 * k2, r1 * r2
        if r2 == 1 and k2 >= 8:
            # Neighbours in memory are of different rows: a column of threads for each.
            threads = 1
            while threads < 16 and threads * 4 < r1:
                threads *= 2
            self.how, self.block, blocks = "column", (32, threads), k1 * -(-k2 // 32)
        elif self.length <= _LONGEST_OF_WARP:
            self.how, self.block, blocks = "warp", (32, _WARP_ROWS), -(-self.count // _WARP_ROWS)
        else:
            threads = 256 if self.length <= 8192 else 512
            self.how, self.block, blocks = "block", (threads,), self.count
        self.parts = 1
        if in_parts:
            least = self.length // _PART[self.how]
            self.parts = max(1, min(least, _ENOUGH_BLOCKS // max(blocks, 1), _MOST_PARTS))
        self.grid = (blocks, self.parts)
        way = np.uint32(_WAYS.index(self.how))
        self.sizes = (way, np.int64(self.count), np.uint32(r1), np.int64(k2), np.uint32(r2))

    def launch(self, file: str, name: str, macros: dict[str, Any], *arguments: Any) -> None:
        """Launch ``cuda/file.cu``'s kernel ``name`` for these rows. The sizes replace the position where
        ``arguments`` has this object itself."""
        given: list[Any] = []
        for value in arguments:
            given += self.sizes if value is self else (value,)
        kernel(file, name, **macros)(self.grid, self.block, given)


@lru_cache(maxsize=_CACHED)
def rows_of(shape: tuple[int, ...], axes: tuple[int, ...], in_parts: bool = False) -> Rows | None:
    """The rows of a contiguous array over ``axes``, which may be negative; None where they can't be cut so.

    That is the case if the array is empty or too large for the kernels, or preserved and reduced axes
    alternate more than twice. With ``in_parts`` few long rows are cut into parts, each of which has a result
    of its own.
    """
    reduced = {axis % len(shape) for axis in axes} if shape else set()
    merged: list[tuple[bool, int]] = []
    for n, size in enumerate(shape):
        if size == 1:
            continue
        if merged and merged[-1][0] == (n in reduced):
            merged[-1] = (merged[-1][0], merged[-1][1] * size)
        else:
            merged.append((n in reduced, size))
    if merged and merged[0][0]:
        merged.insert(0, (False, 1))
    if len(merged) % 2:
        merged.append((True, 1))
    if len(merged) > 4 or prod(size for is_reduced, size in merged if is_reduced) >= _LIMIT or 0 in shape:
        return None
    sizes = [size for _, size in merged]
    # A single pair is [K1][1][1][R2]: contiguous rows.
    k1, r1, k2, r2 = sizes if len(sizes) == 4 else (sizes[0], 1, 1, sizes[1]) if sizes else (1, 1, 1, 1)
    made = Rows((k1, r1, k2, r2), in_parts)
    return made if made.grid[0] < _LIMIT else None


def computing(dtype: Any) -> type[np.floating[Any]]:
    """The type of numbers that kernels compute in, for elements of a floating dtype."""
    return np.float64 if dtype == np.float64 else np.float32


def packed(*arrays: Any) -> list[Any]:
    """The arrays, each contiguous."""
    return [a if a is None or a.flags.c_contiguous else cupy.ascontiguousarray(a) for a in arrays]


def place_for(out: Any, shape: Sequence[int], dtype: Any) -> Any:
    """``out`` where a kernel can write the result there, else a new array."""
    if out is not None and out.flags.c_contiguous and out.shape == shape and out.dtype == dtype:
        return out
    return cupy.empty(shape, dtype)


def given(made: Any, out: Any) -> Any:
    """The result: in ``out`` where one is given."""
    if out is None or made is out:
        return made
    out[...] = made
    return out
