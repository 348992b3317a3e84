"""Tiles of products whose sums stay in the CPU's registers: how large one may be, and its innermost code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from engine.kernels.fast.target import MANY, registers, target
from engine.kernels.fast.vectors import F32, I64, Builder, Local, Value, broadcast, fma, load, offset, settled

_WIDEST = 5  # vectors side by side: more gain nothing and leave more over
_LATENCY = 10  # products that take as long as one needs until its sum is there

Read = Callable[[], Value]


def widest(rows: int) -> int:
    """How many vectors of sums a tile of ``rows`` rows may have side by side: with them, a vector of each and
    one factor are held."""
    return max(1, min(_WIDEST, (registers() - 1) // (rows + 1) if rows else _WIDEST))


def divided(count: int, rows: int) -> list[tuple[int, int, int]]:
    """``count`` vectors of ``rows`` rows as tiles take them: begin, how many tiles, and vectors of each."""
    most = widest(rows)

    def cost(width: int) -> int:
        whole, left = divmod(count, width)
        rest = max(rows * left, _LATENCY) + left + rows if left else 0
        return whole * (max(rows * width, _LATENCY) + width + rows) + rest

    width = min(range(max(1, most - 1), most + 1), key=cost)
    whole, left = divmod(count, width)
    return [(0, whole, width)] * (whole > 0) + [(whole * width, 1, left)] * (left > 0)


def read_vectors(builder: Builder, pointer: Value, kind: Any, places: Iterable[int]) -> list[Read]:
    """Reads of the vectors that lie so many bytes behind ``pointer``."""
    return [partial(_vector, builder, pointer, kind, place) for place in places]


def read_factors(builder: Builder, pointer: Value, lanes: int, places: Iterable[int]) -> list[Read]:
    """Reads of the floats that lie so many bytes behind ``pointer``, each in all lanes."""
    return [partial(_factor, builder, pointer, lanes, place) for place in places]


def _vector(builder: Builder, pointer: Value, kind: Any, place: int) -> Value:
    return load(builder, offset(builder, pointer, I64(place)), kind)


def _factor(builder: Builder, pointer: Value, lanes: int, place: int) -> Value:
    return broadcast(builder, load(builder, offset(builder, pointer, I64(place)), F32), lanes)


def add_products(
    builder: Builder,
    rows: Sequence[Read],
    columns: Sequence[Read],
    sums: Sequence[Sequence[Local]],
    meets: Iterable[int] | None = None,
    more: bool = False,
    full: bool = False,
) -> None:
    """``sums[r][c] += rows[r] * columns[c]``; those of ``meets`` only, if given, of the columns.

    ``more``: further ones follow in the same turn of the loop; ``full``: the tile leaves no register free
    even where a CPU has many.

    The shorter side is read first and held; of the other one vector after the other is read.
    """
    met = list(range(len(columns)) if meets is None else meets)
    if not met:
        return
    if len(met) < len(rows):
        held = [columns[c]() for c in met]
        for row, of_row in zip(rows, sums, strict=True):
            value = row()
            for c, one in zip(met, held, strict=True):
                of_row[c].set(fma(builder, one, value, of_row[c].get()))
    else:
        held = [row() for row in rows]
        for c in met:
            value = columns[c]()
            for one, of_row in zip(held, sums, strict=True):
                of_row[c].set(fma(builder, value, one, of_row[c].get()))
    if more and (
        registers() < MANY or (full and target().has("avx512f"))
    ):  # else LLVM keeps what they read again, or reads ahead
        last = sums[-1][met[-1]]
        last.set(settled(builder, last.get()))
