"""Products of some rows with packed matrices as generated code: BLAS packs a matrix anew in each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from llvmlite import ir

from engine.kernels.fast.target import registers
from engine.kernels.fast.vectors import (
    I64,
    Builder,
    Local,
    Value,
    broadcast,
    element,
    first,
    fma,
    load,
    loop,
    masked_load,
    masked_store,
    offset,
    store,
)

Array = np.ndarray[Any, Any]
_WIDEST = 8  # vectors of a tile
TALLEST = 8  # rows of a tile
_LATENCY = 10  # products that take as long as one needs until its sum is there
_UNROLLED = 2  # rows of the matrix that are added without a branch between them


class Tiles(NamedTuple):
    """How rows are divided into tiles whose sums stay in registers: the heights of those of a ``whole`` shard
    and of the ``last`` one, and how many vectors are ``wide`` side by side.

    Others are ``single``, and one may be a ``part`` of a vector: whether there are any.
    """

    whole: tuple[int, ...]
    last: tuple[int, ...]
    wide: int
    single: bool
    part: bool


def tiles(rows: int, last: int, columns: int, lanes: int) -> Tiles:
    """The tiles for shards of so many ``rows`` and a ``last`` one, and matrices of so many ``columns``."""
    vectors, part = divmod(columns, lanes)

    def total(one: Tiles) -> int:
        count, left = divmod(vectors, one.wide)
        left += part > 0
        return sum(count * cost(h, one.wide) + left * cost(h, 1) for h in one.whole + one.last)

    found = []
    for tallest in range(1, TALLEST + 1):
        whole, end = _heights(rows, tallest), _heights(last, tallest)
        found += [
            Tiles(whole, end, n, vectors % n > 0, part > 0) for n in range(1, widest(max(whole + end)) + 1)
        ]
    return min(found, key=total)


def cost(rows: int, wide: int) -> int:
    """About the time of a tile for each number of the common dimension: products, and what they read."""
    return max(rows * wide, _LATENCY) + rows + wide


def _heights(rows: int, tallest: int) -> tuple[int, ...]:
    count = -(-rows // tallest)
    return tuple(sorted((rows * (n + 1) // count - rows * n // count for n in range(count)), reverse=True))


def widest(rows: int) -> int:
    """Vectors of a tile whose sums stay in registers, with one vector of the matrix each and one factor."""
    return max(1, min(_WIDEST, (registers() - 1) // (rows + (rows > 1))))


def packed_size(columns: Value, lanes: int, builder: Builder) -> Value:
    """Columns of a packed matrix: whole vectors."""
    return builder.mul(builder.sdiv(builder.add(columns, I64(lanes - 1)), I64(lanes)), I64(lanes))


def pack(matrices: Array, wide: int, lanes: int) -> Array:
    """Matrices [gates, inner, columns] in the order in which tiles read them: those that are so many vectors
    ``wide``, which hold all of the common dimension, then single vectors."""
    gates, inner, columns = matrices.shape
    made = np.empty((gates, -(-columns // lanes) * lanes * inner), matrices.dtype)
    whole, last = columns - columns % (wide * lanes), columns - columns % lanes
    for begin, end, width in (0, whole, wide * lanes), (whole, last, lanes), (last, columns, columns - last):
        if begin < end:
            tiles = (end - begin) // width
            room = max(width, lanes)
            into = made[:, begin * inner :][:, : tiles * inner * room].reshape(gates, tiles, inner, room)
            into[..., width:] = 0
            into[..., :width] = matrices[:, :, begin:end].reshape(gates, inner, tiles, width).swapaxes(1, 2)
    return made


class Term(NamedTuple):
    """A product that is added: of rows that lie ``apart``, with ``inner`` numbers each, and a packed matrix.

    There may be ``count`` of them, each so many elements behind the one before.
    """

    rows: Value
    apart: Value
    inner: Value
    matrix: Value
    count: int = 1
    rows_step: Value | None = None
    matrix_step: Value | None = None


Start = Literal["zero", "made"]


def product(
    builder: Builder,
    kind: ir.VectorType,
    tiles: Tiles,
    rows: Value,
    columns: Value,
    terms: Sequence[Term],
    made: Value,
    start: Value | Start,
) -> None:
    """The sum of ``start`` and ``terms`` into ``made`` [rows, columns]. ``start`` is zero, the value of
    ``made``, or the row at an address.

    ``rows`` are as many as the tiles have in a whole shard or in the last one. Each element is a sum in the
    order of the terms and of their common dimension.
    """
    b, lanes = builder, kind.count
    step = tiles.wide * lanes
    whole = b.sub(columns, b.srem(columns, I64(step)))
    last = b.sub(columns, b.srem(columns, I64(lanes)))
    code = _Tile(b, kind, columns, terms, made, start)

    def of_rows(column: Value, wide: int, mask: Value | None) -> None:
        row: Value = I64(0)
        is_whole = b.icmp_signed("==", rows, I64(sum(tiles.whole)))
        for height in sorted({*tiles.whole, *tiles.last}, reverse=True):
            count = b.select(is_whole, I64(tiles.whole.count(height)), I64(tiles.last.count(height)))
            end = b.add(row, b.mul(count, I64(height)))
            with loop(b, row, end, height) as begin:
                code.write(begin, height, column, wide, mask)
            row = end

    with loop(b, I64(0), whole, step) as column:
        of_rows(column, tiles.wide, None)
    if tiles.single:
        with loop(b, whole, last, lanes) as column:
            of_rows(column, 1, None)
    if tiles.part:
        of_rows(last, 1, first(b, b.sub(columns, last), lanes))


class _Tile:
    """A few vectors of some rows of the result, which stay in registers."""

    def __init__(
        self,
        builder: Builder,
        kind: ir.VectorType,
        columns: Value,
        terms: Sequence[Term],
        made: Value,
        start: Value | Start,
    ) -> None:
        self.b, self.kind, self.columns, self.terms = builder, kind, columns, terms
        self.made, self.start = made, start
        self.scalar = element(kind)

    def write(self, row: Value, rows: int, column: Value, wide: int, mask: Value | None) -> None:
        """The rows from ``row`` on."""
        b, lanes = self.b, self.kind.count

        def places(pointer: Value, count: int) -> list[list[Value]]:
            return [
                [
                    self._at(pointer, b.add(b.mul(I64(r), self.columns), b.add(column, I64(n * lanes))))
                    for n in range(wide)
                ]
                for r in range(count)
            ]

        goals = places(self._at(self.made, b.mul(row, self.columns)), rows)
        sums = [[Local(b, value) for value in line] for line in self._begin(goals, places, rows, mask)]
        for term in self.terms:
            with loop(b, I64(0), I64(term.count)) as number:
                source, matrix = self._at(term.rows, b.mul(row, term.apart)), term.matrix
                if term.rows_step is not None and term.matrix_step is not None:
                    source = self._at(source, b.mul(number, term.rows_step))
                    matrix = self._at(matrix, b.mul(number, term.matrix_step))
                self._add(sums, source, term, self._at(matrix, b.mul(column, term.inner)))
        for line, kept in zip(goals, sums, strict=True):
            for goal, one in zip(line, kept, strict=True):
                if mask is None:
                    store(b, one.get(), goal)
                else:
                    masked_store(b, one.get(), goal, mask)

    def _begin(self, goals: Any, places: Any, rows: int, mask: Value | None) -> list[list[Value]]:
        b = self.b

        def read(place: Value) -> Value:
            return load(b, place, self.kind) if mask is None else masked_load(b, place, self.kind, mask)

        if isinstance(self.start, str):
            zero = ir.Constant(self.kind, None)
            return [[zero if self.start == "zero" else read(place) for place in line] for line in goals]
        line = [read(place) for place in places(self.start, 1)[0]]
        return [line] * rows

    def _add(self, sums: list[list[Local]], source: Value, term: Term, panel: Value) -> None:
        b, lanes, wide = self.b, self.kind.count, len(sums[0])

        def add(k: Value) -> None:
            line = self._at(panel, b.mul(k, I64(wide * lanes)))
            factors = [load(b, self._at(line, I64(n * lanes)), self.kind) for n in range(wide)]
            for r, kept in enumerate(sums):
                place = self._at(source, b.add(b.mul(I64(r), term.apart), k))
                value = broadcast(b, load(b, place, self.scalar), lanes)
                for one, factor in zip(kept, factors, strict=True):
                    one.set(fma(b, value, factor, one.get()))

        several = b.sub(term.inner, b.srem(term.inner, I64(_UNROLLED)))
        with loop(b, I64(0), several, _UNROLLED) as k:
            for n in range(_UNROLLED):
                add(b.add(k, I64(n)))
        with loop(b, several, term.inner) as k:
            add(k)

    def _at(self, pointer: Value, place: Value) -> Value:
        return offset(self.b, pointer, place, self.scalar)
