"""Sequences of several lengths: padded to the longest, with a mask behind the values of each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.rows import Table


class MaskedSequences:
    """A table of sequences [n, steps, values + 1]: the last value is 1 for a step and 0 for padding.

    Args:
        table: [n, steps] or [n, steps, values], padded; or all steps of all sequences behind each other,
            [steps of all] or [steps of all, values].
        lengths: the steps of each sequence.

    Raises:
        DataError: lengths that don't fit the table, or a sequence without steps; names its row.
    """

    dtype: np.dtype[Any] = np.dtype(np.float32)

    def __init__(self, table: Table, lengths: np.ndarray | Sequence[int], name: str) -> None:
        lengths = np.asarray(lengths)
        if lengths.ndim == 2 and lengths.shape[1] == 1:
            lengths = lengths[:, 0]
        whole = lengths.dtype.kind in "ui" or (
            lengths.dtype.kind == "f" and bool((lengths == np.rint(lengths)).all())
        )
        if lengths.ndim != 1 or not len(lengths) or not whole or len(table.shape) > 3:
            raise DataError(
                f"{name}: not the lengths of sequences: {lengths.dtype} {list(lengths.shape)} for inputs "
                f"{list(table.shape)}; give one integer for each sequence"
            )
        lengths = lengths.astype(np.int64)
        empty = np.flatnonzero(lengths <= 0)
        if len(empty):
            raise DataError(
                f"{name} row {int(empty[0])}: a sequence has no steps: length {int(lengths[empty[0]])}; "
                f"remove it ({len(empty)} such)"
            )
        self._table, self._lengths = table, lengths
        self._joined = (
            len(table.shape) < 3 and table.shape[0] != len(lengths) and table.shape[0] == int(lengths.sum())
        )
        if self._joined:
            self._begins = np.concatenate([[0], np.cumsum(lengths)])
            steps, inner = int(lengths.max()), table.shape[1:]
        elif table.shape[0] != len(lengths) or len(table.shape) < 2:
            raise DataError(
                f"{name}: inputs and lengths don't belong together: {table.shape[0]} rows, {len(lengths)} "
                f"lengths, {int(lengths.sum())} steps in all; choose arrays of the same data"
            )
        else:
            steps, inner = int(table.shape[1]), table.shape[2:]
        long = np.flatnonzero(lengths > steps)
        if len(long):
            raise DataError(
                f"{name} row {int(long[0])}: a length of {int(lengths[long[0]])}, over the {steps} steps of "
                "the inputs; fix the lengths"
            )
        self.shape = (len(lengths), steps, (int(inner[0]) if inner else 1) + 1)
        if table.dtype.kind not in "buif":
            raise DataError(f"{name}: not numbers: {table.dtype}; choose another array for the inputs")

    def widened(self, steps: int) -> MaskedSequences:
        """The same sequences, padded to at least so many steps."""
        self.shape = (self.shape[0], max(steps, self.shape[1]), self.shape[2])
        return self

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The sequences of these numbers, float32; what is padding is 0."""
        out = np.zeros((len(indices), *self.shape[1:]), np.float32)
        there = np.arange(self.shape[1]) < self._lengths[indices][:, None]
        if self._joined:
            rows = (
                np.concatenate([np.arange(self._begins[each], self._begins[each + 1]) for each in indices])
                if len(indices)
                else np.zeros(0, np.int64)
            )
            out[there, :-1] = self._table.take(rows).reshape(len(rows), -1)
        else:
            taken = self._table.take(indices)
            taken = taken.reshape(*taken.shape[:2], -1)
            inside = there[:, : taken.shape[1]]
            out[:, : taken.shape[1], :-1] = np.where(inside[..., None], taken, 0)
        out[..., -1] = there
        return out
