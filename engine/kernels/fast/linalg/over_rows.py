"""Products x.T @ y of matrices with many rows as generated code, such as gradients of weights over steps."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from engine.kernels.cpu import pool
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import Handle, function
from engine.kernels.fast.linalg import packed
from engine.kernels.fast.target import lanes
from engine.kernels.fast.vectors import (
    F32,
    F64,
    I64,
    POINTER,
    Builder,
    Frame,
    Local,
    Value,
    broadcast,
    first,
    fma,
    least,
    load,
    loop,
    masked_load,
    masked_store,
    offset,
    size,
    store,
)

Array = np.ndarray[Any, Any]
# Rows that are added before the next ones: some vectors of y are packed for them and stay in the first cache.
_CHUNK = 128
# Numbers of a shard: for two pieces of rows the addresses of x and y and how many they are, addresses of the
# result and of the sums of the first rows of x or 0, columns of x and y, the first column of x and the end.
_ENTRY = 12
_TOGETHER = 8  # vectors whose sums are in registers


class Piece(NamedTuple):
    """Rows of x [rows, m] and y [rows, n], contiguous arrays."""

    x: Array
    y: Array


class OverRows:
    """Adds products of gates: x [gates, rows, m], y [rows, n], results [gates, m, n]."""

    __slots__ = ("_shards", "handle")

    def __init__(self, handle: Handle, shards: int) -> None:
        self.handle, self._shards = handle, shards

    def __call__(self, products: Sequence[tuple[Array, Sequence[Piece]]], sums: Array | None = None) -> None:
        """Add x.T @ y of one or two pieces to each result; x may have gaps between gates, others have none.

        Also sums the first x over its rows into ``sums`` [gates, m].
        """
        entries: list[int] = []
        for number, (made, pieces) in enumerate(products):
            gates, m, n = made.shape
            # Addresses of the first gate, and bytes to the next one; a missing piece has no rows.
            places = [(address(p.x), p.x.strides[0], address(p.y), len(p.y)) for p in pieces]
            (x, step, y, rows), (x2, step2, y2, rows2) = (*places, (0, 0, 0, 0))[:2]
            goal, next_goal = address(made), made.strides[0]
            at_sums, next_sums = (0, 0) if sums is None or number else (address(sums), sums.strides[0])
            ends = [m * k // self._shards for k in range(self._shards + 1)]
            for g in range(gates):
                first = x + g * step, y, rows, x2 + g * step2, y2, rows2
                head = *first, goal + g * next_goal, at_sums + g * next_sums, m, n
                for pair in pairwise(ends):
                    entries += *head, *pair
        table = (ctypes.c_int64 * len(entries))(*entries)
        args = (ctypes.c_int64 * 1)(ctypes.addressof(table))
        assert self.handle.address is not None
        pool.parallel(self.handle.address, args, len(entries) // _ENTRY)


def kernel(dtype: Any, m: int, n: Sequence[int], shards: int) -> OverRows | None:
    """The code for results of m rows and one of these numbers of columns; None for other dtypes than floats.

    Each gate of a product is cut into so many shards.
    """
    scalar = {"float32": F32, "float64": F64}.get(np.dtype(dtype).name)
    if scalar is None:
        return None
    width = lanes() * 4 // size(scalar)
    heights = {m * (k + 1) // shards - m * k // shards for k in range(shards)}
    how = _how(min(heights), n, width)
    tails = tuple(sorted({h % how.tall for h in heights} - {0}))
    name = f"over rows {scalar} {width} {how} {tails}"
    return OverRows(function(name, partial(_build, scalar, width, how, tails)), shards)


class _How(NamedTuple):
    """Rows and vectors of a tile, and whether there are single vectors and parts of one."""

    tall: int
    wide: int
    single: bool
    part: bool


def _how(rows: int, columns: Sequence[int], width: int) -> _How:
    def cost(one: _How) -> int:
        count = 0
        for each in columns:
            whole, left = divmod(-(-each // width), one.wide)
            for tall, times in (one.tall, rows // one.tall), (rows % one.tall, 1):
                count += times * (whole * packed.cost(tall, one.wide) + left * packed.cost(tall, 1))
        return count

    found = [
        _How(tall, wide, any(n // width % wide for n in columns), any(n % width for n in columns))
        for tall in range(1, packed.TALLEST + 1)
        for wide in range(1, packed.widest(tall) + 1)
    ]
    return min(found, key=cost)


def _build(
    scalar: ir.Type, width: int, how: _How, tails: tuple[int, ...], module: ir.Module, name: str
) -> ir.Function:
    frame = Frame(module, name)
    b = frame.builder
    table = frame.pointer(0)
    kind = ir.VectorType(scalar, width)
    room = b.alloca(kind, _CHUNK * how.wide)
    room.align = 64
    with loop(b, frame.begin, frame.end) as number:
        entry = [
            load(b, offset(b, table, b.add(b.mul(number, I64(_ENTRY)), I64(k)), I64), I64)
            for k in range(_ENTRY)
        ]
        shard = _Shard(b, kind, room, entry)
        shard.sum_rows()
        n = shard.n
        whole = b.sub(n, b.srem(n, I64(how.wide * width)))
        last = b.sub(n, b.srem(n, I64(width)))

        def columns(column: Value, wide: int, mask: Value | None, shard: _Shard = shard) -> None:
            shard.write(column, wide, mask, how.tall, tails)

        with loop(b, I64(0), whole, how.wide * width) as column:
            columns(column, how.wide, None)
        if how.single:
            with loop(b, whole, last, width) as column:
                columns(column, 1, None)
        if how.part:
            with b.if_then(b.icmp_signed("<", last, n)):
                columns(last, 1, first(b, b.sub(n, last), width))
    return frame.close()


class _Shard:
    """Some rows of one result."""

    def __init__(self, builder: Builder, kind: ir.VectorType, room: Value, entry: Sequence[Value]) -> None:
        self.b, self.kind, self.room, self.scalar = builder, kind, room, kind.element
        self.pieces = entry[:3], entry[3:6]
        self.made = builder.inttoptr(entry[6], POINTER)
        self.sums = builder.inttoptr(entry[7], POINTER)
        self.m, self.n, self.begin, self.end = entry[8:]

    def sum_rows(self) -> None:
        """The sums of the first rows of x, where they are wanted."""
        b, width = self.b, self.kind.count
        x_at, _, rows = self.pieces[0]
        x = b.inttoptr(x_at, POINTER)

        def some(column: Value, wide: int, mask: Value | None) -> None:
            sums = [Local(b, ir.Constant(self.kind, None)) for _ in range(wide)]
            with loop(b, I64(0), rows) as r:
                line = self._at(x, b.add(b.mul(r, self.m), column))
                for n, one in enumerate(sums):
                    one.set(b.fadd(one.get(), self._read(self._at(line, I64(n * width)), mask)))
            for n, one in enumerate(sums):
                place = self._at(self.sums, b.add(column, I64(n * width)))
                if mask is None:
                    store(b, one.get(), place)
                else:
                    masked_store(b, one.get(), place, mask)

        with b.if_then(b.icmp_signed("!=", b.ptrtoint(self.sums, I64), I64(0))):
            count = b.sub(self.end, self.begin)
            whole = b.sub(self.end, b.srem(count, I64(_TOGETHER * width)))
            with loop(b, self.begin, whole, _TOGETHER * width) as column:
                some(column, _TOGETHER, None)
            with loop(b, whole, self.end, width) as column:
                some(column, 1, first(b, b.sub(self.end, column), width))

    def _read(self, place: Value, mask: Value | None) -> Value:
        return load(self.b, place, self.kind) if mask is None else masked_load(self.b, place, self.kind, mask)

    def write(self, column: Value, wide: int, mask: Value | None, tall: int, tails: Sequence[int]) -> None:
        b = self.b
        for x_at, y_at, rows in self.pieces:
            x, y = b.inttoptr(x_at, POINTER), b.inttoptr(y_at, POINTER)
            with loop(b, I64(0), rows, _CHUNK) as start:
                count = least(b, b.sub(rows, start), I64(_CHUNK))
                self._pack(self._at(y, b.add(b.mul(start, self.n), column)), count, wide, mask)
                own = self._at(x, b.mul(start, self.m))
                left = b.srem(b.sub(self.end, self.begin), I64(tall))
                whole = b.sub(self.end, left)
                with loop(b, self.begin, whole, tall) as row:
                    self._tile(own, count, row, tall, column, wide, mask)
                for tail in tails:
                    with b.if_then(b.icmp_signed("==", left, I64(tail))):
                        self._tile(own, count, whole, tail, column, wide, mask)

    def _pack(self, y: Value, count: Value, wide: int, mask: Value | None) -> None:
        b = self.b
        with loop(b, I64(0), count) as r:
            line = self._at(y, b.mul(r, self.n))
            for k in range(wide):
                place = self._at(line, I64(k * self.kind.count))
                store(b, self._read(place, mask), self._packed(r, wide, k))

    def _packed(self, row: Value, wide: int, k: int) -> Value:
        return offset(self.b, self.room, self.b.add(self.b.mul(row, I64(wide)), I64(k)), self.kind)

    def _tile(
        self, x: Value, count: Value, row: Value, tall: int, column: Value, wide: int, mask: Value | None
    ) -> None:
        b = self.b
        sums = [[Local(b, ir.Constant(self.kind, None)) for _ in range(wide)] for _ in range(tall)]
        with loop(b, I64(0), count) as r:
            factors = [load(b, self._packed(r, wide, k), self.kind) for k in range(wide)]
            line = self._at(x, b.add(b.mul(r, self.m), row))
            for n, kept in enumerate(sums):
                value = broadcast(b, load(b, self._at(line, I64(n)), self.scalar), self.kind.count)
                for one, factor in zip(kept, factors, strict=True):
                    one.set(fma(b, value, factor, one.get()))
        for n, kept in enumerate(sums):
            place = b.add(b.mul(b.add(row, I64(n)), self.n), column)
            for k, one in enumerate(kept):
                goal = self._at(self.made, b.add(place, I64(k * self.kind.count)))
                value = b.fadd(self._read(goal, mask), one.get())
                if mask is None:
                    store(b, value, goal)
                else:
                    masked_store(b, value, goal, mask)

    def _at(self, pointer: Value, place: Value) -> Value:
        return offset(self.b, pointer, place, self.scalar)
