"""How compiled poolings of images with contiguous rows, and unpooling, are called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.kernels.cpu.pool import parallel
from engine.kernels.fast.arguments import Arguments, address
from engine.kernels.fast.compiler import Handle, function
from engine.kernels.fast.images.pooling import planes_code as code
from engine.kernels.fast.images.pooling.positions_code import OUTSIDE, emit_scatter
from engine.kernels.fast.images.sample_blocks import SHARDS
from engine.kernels.fast.steps import KINDS
from engine.kernels.fast.vectors import I32, I64

Array = Any
WIDEST = 1 << 14  # numbers in a row, which are on the stack
_STRIDES = 4  # of equal windows that are read as vectors
_SHARD = 1 << 14  # elements of a shard, at least: about 5 us

_CODES = {
    "mean": code.emit_mean,
    "spread": code.emit_spread,
    "maximum": code.emit_maximum,
    "positions": code.emit_positions,
    "gradient": code.emit_gradient,
}


def _shards(planes: int, work: int) -> int:
    """How many shards ``planes`` images make that read or write ``work`` elements together."""
    return max(1, min(planes, SHARDS, work // _SHARD))


class Planes:
    """A pooling of ``planes`` images, or its gradient. ``way``: "mean", "maximum", "positions" (the maxima
    and where they are), "gradient" (of maxima), "spread" (the gradient of means).

    ``windows`` are, for each axis of the result, fields of ``planes_code``; ``size`` and ``made`` are the
    sizes of what is read and of what is made for each of the windows; ``divisors`` belong to the windows of
    the pooling. ``equal``: stride and elements of windows along a row, and padding before it, where they are
    equal. An instance may be called from several threads.
    """

    def __init__(
        self,
        way: str,
        dtype: np.dtype[Any],
        planes: int,
        size: Sequence[int],
        made: Sequence[int],
        windows: Sequence[Sequence[tuple[int, int, bool]]],
        divisors: Array | None = None,
        nan_too: bool = False,
        equal: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        stride, entries, before = equal if equal[0] <= _STRIDES else (0, 0, 0)
        kind = code.Kind(KINDS[dtype.name], stride)
        emit = _CODES[way]
        self.handle: Handle = function(f"pooling {way} {kind}", lambda m, n: emit(m, n, kind))
        sizes, results = ([1] * (3 - len(each)) + list(each) for each in (size, made))
        rows = [(0, 1, True)] * (3 - len(size)) + [each for axis in windows for each in axis]
        self._held = np.array(rows, np.int64), divisors
        self.shards = _shards(planes, planes * max(math.prod(sizes), math.prod(results)))
        numbers = [
            address(self._held[0]),
            0 if divisors is None else address(divisors),
            *sizes,
            *results,
            before,
            entries,
            int(nan_too),
            planes,
            self.shards,
        ]
        self._arguments = Arguments(numbers, 3 if way in ("positions", "gradient") else 2)

    def __call__(self, *arrays: Array) -> None:
        """Compute; the arrays are contiguous, what is written comes last."""
        parallel(self.handle.address, self._arguments.of(arrays), self.shards)


class Scatter:
    """Zeros with numbers at their positions in each of ``planes`` images of ``size`` elements."""

    def __init__(
        self, dtype: np.dtype[Any], places: np.dtype[Any], planes: int, count: int, size: int, adds: bool
    ) -> None:
        kind, marks = KINDS[dtype.name], {"int32": I32, "int64": I64}[places.name]
        self.handle: Handle = function(
            f"scatter {kind} {marks} {adds}", lambda m, n: emit_scatter(m, n, kind, marks, adds)
        )
        self.shards = _shards(planes, planes * max(count, size))
        self._arguments = Arguments([size, count, planes, self.shards, 0], 3)

    def __call__(self, values: Array, places: Array, made: Array) -> bool:
        """Fill ``made``, all arrays being contiguous; False where a position is outside of the image."""
        arguments = self._arguments.of((values, places, made))
        parallel(self.handle.address, arguments, self.shards)
        return not arguments[OUTSIDE]
