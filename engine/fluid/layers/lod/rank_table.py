"""``lod_rank_table``: the order of sequences by length, the longest first, and values in this order."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.fluid.values.variable import result
from engine.ops.sequences import uneven
from engine.static.nn.helper import require_variable
from engine.static.nn.sequence_lengths import (
    counted,
    find_levels,
    levels_of,
    sequence_numbers,
    unpadded,
    with_levels,
)
from engine.tensor import creation, manipulation, math, search
from engine.tensor.elements import scattering
from engine.tensor.elements.arranging import slice_
from engine.tensor.reductions import reduction


class RankTable:
    """Sequences by length, the longest first; those of equal lengths stay in their order."""

    def __init__(self, lengths: Any) -> None:
        count = math.cast(manipulation.shape(lengths), "int64")
        self.lengths = lengths
        self.order = search.argsort(counted(lengths) - lengths * count)
        self.sorted = scattering.gather(lengths, self.order)

    def count(self) -> Any:
        """The number of sequences, int64 [1]."""
        return math.cast(manipulation.shape(self.lengths), "int64")

    def ranked(self, x: Any) -> Any:
        """Rows, one for each sequence, in the order of the table."""
        return scattering.gather(x, self.order)

    def restored(self, x: Any) -> Any:
        """Rows in the order of the table, in that of the sequences again."""
        return scattering.gather(x, search.argsort(self.order))

    def steps(self, x: Any) -> Any:
        """The rows of ``x`` [rows, ...] by step, each step in the order of the table: [steps, N, ...]."""
        batch = self.ranked(uneven.pad_sequences(x, self.lengths))
        return manipulation.transpose(batch, [1, 0, *range(2, batch.ndim)])

    def active(self) -> Any:
        """How many sequences have each step: int64 [steps, 1]."""
        ones = creation.ones_like(sequence_numbers(self.lengths))
        return manipulation.unsqueeze(reduction.sum(uneven.pad_sequences(ones, self.lengths), 0), 1)

    def rows(self, steps: Any) -> Any:
        """``steps`` [steps, N, ...] as sequences, the inverse of ``steps()``."""
        batch = manipulation.transpose(steps, [1, 0, *range(2, steps.ndim)])
        return unpadded(self.restored(batch), self.lengths)


def reordered(x: Any, order: Any) -> tuple[Any, Any]:
    """Rows, or sequences with their lengths, in another order; the lengths, None without them."""
    levels = find_levels(x)
    if not levels:
        return scattering.gather(x, order), None
    (lengths,) = levels_of("reorder_lod_tensor_by_rank", "x", x, most=1)
    batch = scattering.gather(uneven.pad_sequences(x, lengths), order)
    lengths = scattering.gather(lengths, order)
    return uneven.unpad_sequences(batch, lengths), lengths


def first_rows(x: Any, count: Any) -> Any:
    """The first ``count`` rows of ``x``, of which only the running Program knows the number."""
    return slice_(x, [0], [0], [count])


def rest_of_rows(x: Any, count: Any) -> Any:
    """The rows of ``x`` behind the first ``count``."""
    return slice_(x, [0], [count], [2**31 - 1])


def lod_rank_table(x: Any, level: int = 0) -> RankTable:
    """The order of the sequences of ``x`` by length, for ``reorder_lod_tensor_by_rank``.

    Raises ArgumentError for an ``x`` without lengths, or without that level.
    """
    levels = levels_of("lod_rank_table", "x", x)
    if not 0 <= level < len(levels):
        raise ArgumentError(f"lod_rank_table: level is {level}, x has {len(levels)} levels of lengths")
    return RankTable(levels[level])


def max_sequence_len(rank_table: RankTable) -> Any:
    """The length of the longest sequence: int64 [1]."""
    return result(first_rows(_table("max_sequence_len", rank_table).sorted, 1))


def reorder_lod_tensor_by_rank(x: Any, rank_table: RankTable) -> Any:
    """The rows of ``x``, or its sequences where it has lengths, in the order of the table.

    Raises ArgumentError for a table that is not one of ``lod_rank_table``.
    """
    require_variable("reorder_lod_tensor_by_rank", "x", x)
    made, lengths = reordered(x, _table("reorder_lod_tensor_by_rank", rank_table).order)
    return result(made if lengths is None else with_levels(made, [lengths]))


def _table(where: str, table: object) -> RankTable:
    if not isinstance(table, RankTable):
        raise ArgumentError(f"{where}: rank_table is what lod_rank_table gives: got {table!r}")
    return table
