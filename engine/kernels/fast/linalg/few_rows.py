"""Products of few rows with a matrix as generated code: a call of BLAS takes longer than such a product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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

_MOST = 4  # rows in all
Array = np.ndarray[Any, Any]
_WIDEST = 8  # vectors of a tile
_UNROLLED = 2  # rows of the matrix that are added without a branch between them


def in_shard(rows: int) -> int:
    """How many of ``rows``, if they are few, one thread computes; 0 for more."""
    return 0 if rows > _MOST else rows if rows % 2 else rows // 2


def product(
    builder: Builder,
    kind: ir.VectorType,
    rows: int,
    sizes: Sequence[Value],
    places: Sequence[Value],
    add: bool = False,
    apart: Value | None = None,
    packed: bool = False,
) -> None:
    """c = a @ b, or c += a @ b with ``add``, as :func:`engine.kernels.fast.linalg.blas.product` for as many
    ``rows`` as are known here. ``sizes`` are the columns of b and the common dimension, ``places`` a, b, c.

    Each element is a sum in the order of the common dimension. ``packed``: b is as :func:`packed_size` and
    :func:`pack` say.
    """
    b, (columns, inner), lanes = builder, sizes, kind.count
    wide = _wide(rows)
    step = wide * lanes
    whole = b.sub(columns, b.srem(columns, I64(step)))
    last = b.sub(columns, b.srem(columns, I64(lanes)))
    tile = _Tile(b, kind, rows, columns, inner, places, add, inner if apart is None else apart, packed)
    with loop(b, I64(0), whole, step) as column:
        tile.write(column, wide, None)
    with loop(b, whole, last, lanes) as column:
        tile.write(column, 1, None)
    with b.if_then(b.icmp_signed("<", last, columns)):
        tile.write(last, 1, first(b, b.sub(columns, last), lanes))


def _wide(rows: int) -> int:
    """Vectors of a tile that stay in registers, for so many rows."""
    return max(1, min(_WIDEST, (registers() - 2 - rows) // (rows + (rows > 1))))


def packed_size(columns: Value, lanes: int, builder: Builder) -> Value:
    """Columns of a packed matrix: whole vectors."""
    return builder.mul(builder.sdiv(builder.add(columns, I64(lanes - 1)), I64(lanes)), I64(lanes))


def pack(matrices: Array, rows: int, lanes: int) -> Array:
    """Matrices [..., inner, columns] in the order in which products with so many rows read them: tile after
    tile, which hold all of the common dimension."""
    *outer, inner, columns = matrices.shape
    full = -(-columns // lanes) * lanes
    padded = np.zeros((*outer, inner, full), matrices.dtype)
    padded[..., :columns] = matrices
    step = _wide(rows) * lanes
    whole = columns - columns % step
    tiles = [
        *((n, n + step) for n in range(0, whole, step)),
        *((n, n + lanes) for n in range(whole, full, lanes)),
    ]
    parts = [padded[..., begin:end].reshape(*outer, -1) for begin, end in tiles]
    return np.ascontiguousarray(np.concatenate(parts, axis=-1))


class _Tile:
    """A few vectors of all rows of the result, which stay in registers."""

    def __init__(
        self,
        builder: Builder,
        kind: ir.VectorType,
        rows: int,
        columns: Value,
        inner: Value,
        places: Sequence[Value],
        add: bool,
        apart: Value,
        packed: bool,
    ) -> None:
        self.b, self.kind, self.rows, self.columns, self.inner = builder, kind, rows, columns, inner
        self.places, self.add, self.apart, self.packed = places, add, apart, packed
        self.scalar = element(kind)

    def write(self, column: Value, wide: int, mask: Value | None) -> None:
        b, lanes = self.b, self.kind.count
        rows, matrix, made = self.places

        def read(place: Value) -> Value:
            return load(b, place, self.kind) if mask is None else masked_load(b, place, self.kind, mask)

        goals = [
            offset(b, made, b.add(b.mul(I64(r), self.columns), b.add(column, I64(n * lanes))), self.scalar)
            for r in range(self.rows)
            for n in range(wide)
        ]
        zero = ir.Constant(self.kind, None)
        sums = [Local(b, read(goal) if self.add else zero) for goal in goals]

        panel = offset(b, matrix, b.mul(column, self.inner), self.scalar)

        def add(k: Value) -> None:
            if self.packed:
                line = offset(b, panel, b.mul(k, I64(wide * lanes)), self.scalar)
                factors = [
                    load(b, offset(b, line, I64(n * lanes), self.scalar), self.kind) for n in range(wide)
                ]
            else:
                line = offset(b, matrix, b.add(b.mul(k, self.columns), column), self.scalar)
                factors = [read(offset(b, line, I64(n * lanes), self.scalar)) for n in range(wide)]
            for r in range(self.rows):
                place = offset(b, rows, b.add(b.mul(I64(r), self.apart), k), self.scalar)
                value = broadcast(b, load(b, place, self.scalar), lanes)
                for n, factor in enumerate(factors):
                    one = sums[r * wide + n]
                    one.set(fma(b, value, factor, one.get()))

        several = b.sub(self.inner, b.srem(self.inner, I64(_UNROLLED)))
        with loop(b, I64(0), several, _UNROLLED) as k:
            for n in range(_UNROLLED):
                add(b.add(k, I64(n)))
        with loop(b, several, self.inner) as k:
            add(k)
        for goal, one in zip(goals, sums, strict=True):
            if mask is None:
                store(b, one.get(), goal)
            else:
                masked_store(b, one.get(), goal, mask)
