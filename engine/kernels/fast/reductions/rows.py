"""Code that works on the rows of a matrix: sums and maxima of a row, then each of its elements again."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from engine.kernels.cpu import pool
from engine.kernels.fast import vectors as v
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import Handle
from engine.kernels.fast.target import lanes

Array = Any
_WAYS = 4  # partial sums of a row
# From here on elements are shared among threads.
_SHARED = 1 << 15


class Row:
    """The row at hand while its code is written: ``count`` elements of type ``element``."""

    def __init__(self, builder: v.Builder, element: Any, count: v.Value) -> None:
        self.builder, self.element, self.count = builder, element, count
        self.width = lanes() if element == v.F32 else lanes() // 2
        self.kind = ir.VectorType(element, self.width)
        self._full = builder.and_(count, v.I64(-self.width))

    def each(self, body: Callable[[Place], None]) -> None:
        """Write ``body`` for whole vectors, and once more for the rest of the row."""
        b = self.builder
        with v.loop(b, v.I64(0), self._full, self.width) as i:
            body(Place(self, i, None))
        with b.if_then(b.icmp_signed("<", self._full, self.count)):
            body(Place(self, self._full, v.first(b, b.sub(self.count, self._full), self.width)))

    def sums(self, values: Callable[[Place], Sequence[v.Value]], count: int) -> list[v.Value]:
        """``count`` sums over the row. Elements behind its end have to be zeros.

        Whole vectors are added in turn to a few partial sums, so that one addition need not wait for another;
        their order is fixed.
        """
        b, ways = self.builder, _WAYS
        zero = v.constant(self.kind, 0.0)
        partial = [[v.Local(b, zero) for _ in range(count)] for _ in range(ways)]

        def add(place: Place, sums: Sequence[v.Local]) -> None:
            for local, value in zip(sums, values(place), strict=True):
                local.set(b.fadd(local.get(), value))

        many = b.and_(self.count, v.I64(-self.width * ways))
        with v.loop(b, v.I64(0), many, self.width * ways) as i:
            for n, sums in enumerate(partial):
                add(Place(self, b.add(i, v.I64(n * self.width)), None), sums)
        with v.loop(b, many, self._full, self.width) as i:
            add(Place(self, i, None), partial[0])
        with b.if_then(b.icmp_signed("<", self._full, self.count)):
            add(Place(self, self._full, v.first(b, b.sub(self.count, self._full), self.width)), partial[0])
        found = []
        for locals_ in zip(*partial, strict=True):
            first, second, third, fourth = (local.get() for local in locals_)
            found.append(v.total(b, b.fadd(b.fadd(first, second), b.fadd(third, fourth)), v.plus))
        return found

    def largest(self, source: v.Value) -> v.Value:
        """The maximum of the row at ``source``, NaN where one element is."""
        b = self.builder
        largest = v.Local(b, v.constant(self.kind, -float("inf")))
        self.each(lambda place: largest.set(v.maximum(b, place.load(source, -float("inf")), largest.get())))
        return v.total(b, largest.get(), v.maximum)

    def spread(self, value: v.Value) -> v.Value:
        """A number in each lane."""
        return v.broadcast(self.builder, value, self.width)


class Place:
    """One vector of a row; ``mask`` is None where it is whole."""

    def __init__(self, row: Row, index: v.Value, mask: v.Value | None) -> None:
        self.row, self.index, self.mask = row, index, mask

    def load(self, source: v.Value, other: float = 0.0) -> v.Value:
        """The elements of a row at ``source``; ``other`` behind its end."""
        row = self.row
        spot = v.offset(row.builder, source, self.index, row.element)
        if self.mask is None:
            return v.load(row.builder, spot, row.kind)
        return v.masked_load(row.builder, spot, row.kind, self.mask, v.constant(row.kind, other))

    def store(self, value: v.Value, target: v.Value) -> None:
        """Write the elements into a row at ``target``."""
        row = self.row
        spot = v.offset(row.builder, target, self.index, row.element)
        if self.mask is None:
            v.store(row.builder, value, spot)
        else:
            v.masked_store(row.builder, value, spot, self.mask)

    def only(self, value: v.Value) -> v.Value:
        """``value``, zero behind the end of the row."""
        if self.mask is None:
            return value
        return self.row.builder.select(self.mask, value, v.constant(self.row.kind, 0.0))


def bits(value: float, dtype: Any) -> int:
    """A number as an argument."""
    number = np.array(value, dtype)
    return int(number.view(f"i{number.itemsize}"))


def call(handle: Handle, numbers: Sequence[int], arrays: Sequence[Array], shards: int, size: int) -> None:
    """Call a kernel whose arguments are ``numbers`` and the addresses of contiguous arrays."""
    values = [*numbers, *[address(x) for x in arrays]]
    args = (ctypes.c_int64 * len(values))(*values)
    if size >= _SHARED:
        pool.parallel(handle.address, args, shards)
    else:
        handle.call(args, 0, shards)
