"""Prepared: chosen rows of a source as a dataset that a DataLoader reads in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.core.errors import DataError, OutOfRangeError
from engine.io.dataset import Dataset
from engine.training.sources.images.vary import Vary
from engine.training.sources.preparing.prepare import Prepare
from engine.training.sources.rows import Rows, TableRows
from engine.training.sources.several_inputs import Feed


class Prepared(Dataset):
    """Items are (float32 of ``shape``, label int64 [1]), or (float32 of ``shape``, scaled targets float32
    [k]) where numbers are to be predicted; nothing is read before it is asked for. Of rows with several
    inputs the first of the two is a tuple of them, in which ``prepare`` and ``vary`` are for the first.

    Args:
        chosen: the numbers of the rows, in their order here.
        prepare: makes of rows what the model is fed.
        vary: varies images between the two; None for a test split.
        labels, targets: those of each chosen row, where they are not those of the rows.
    """

    def __init__(
        self,
        rows: Rows,
        chosen: np.ndarray,
        classes: tuple[str, ...],
        prepare: Prepare,
        vary: Vary | None = None,
        labels: np.ndarray | None = None,
        targets: np.ndarray | None = None,
    ) -> None:
        self.rows, self.chosen, self.classes = rows, np.asarray(chosen, np.int64), classes
        self.prepare, self.vary = prepare, vary
        self.labels = rows.labels[self.chosen] if labels is None else labels
        self.targets = targets
        if targets is None and rows.targets is not None:
            self.targets = rows.targets[self.chosen]
        self.shape = prepare.shape(rows.shape)

    def __len__(self) -> int:
        return len(self.chosen)

    def __getitem__(self, index: int) -> tuple[Any, np.ndarray]:
        if not -len(self) <= index < len(self):
            raise OutOfRangeError(f"data: no sample {index}: there are {len(self)}; use 0 to {len(self) - 1}")
        values, labels = self.__getitems__([index % len(self)])
        if isinstance(values, tuple):
            return tuple(each[0] for each in values), labels[0]
        return values[0], labels[0]

    def __getitems__(self, indices: Sequence[int]) -> tuple[Any, np.ndarray]:
        """The samples [n, ...] and labels [n, 1], or scaled targets [n, k], of a batch.

        Raises:
            DataError: a sample can't be read, or holds NaN; names it.
        """
        wanted = self.chosen[np.asarray(indices, np.int64)]
        values = _scaled(self.rows, self.prepare, self.rows.read_resized(wanted), wanted)
        if self.vary is not None:
            values = self.vary(values)
        values = self.prepare.normalized(values)
        fed: Any = values
        if self.rows.others:
            fed = (values, *(as_stored(other, wanted) for other in self.rows.others))
        places = np.asarray(indices, np.int64)
        if self.targets is not None:
            return fed, self.prepare.scaled_targets(self.targets[places])
        return fed, self.labels[places, None]

    def feeds(self) -> tuple[Feed, ...]:
        """The inputs of a model that takes several; none for one."""
        tables = [self.rows, *self.rows.others]
        if len(tables) == 1:
            return ()
        return tuple(
            Feed(
                rows.array,
                self.shape if rows is self.rows else Prepare(rows.is_image).shape(rows.shape),
                "int64" if rows.is_integers else "float32",
                rows.array,
            )
            for rows in tables
            if isinstance(rows, TableRows)
        )


def as_stored(rows: Rows, wanted: np.ndarray, prepare: Prepare | None = None) -> np.ndarray:
    """The samples of these numbers as a further input is fed: images from 0 to 1, others as they are.

    Args:
        prepare: another preparation.

    Raises:
        DataError: a sample can't be read, or holds NaN; names it.
    """
    return _scaled(rows, prepare or Prepare(rows.is_image), rows.read(wanted), wanted)


def _scaled(rows: Rows, prepare: Prepare, raw: Any, wanted: np.ndarray) -> np.ndarray:
    values = prepare.scaled(raw)
    if isinstance(raw, np.ndarray) and raw.dtype.kind == "f" and not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))[0])
        raise DataError(
            f"data: {rows.where(int(wanted[bad]))}: it holds NaN or infinity; fill what is missing, or "
            "remove the sample"
        )
    return values


def as_given(data: Prepared) -> Prepared:
    """The same samples before they are normalised, as an export takes them."""
    return prepared_by(data, replace(data.prepare, mean=(), deviation=()))


def prepared_by(data: Prepared, prepare: Prepare) -> Prepared:
    """The same samples, prepared in another way."""
    return Prepared(data.rows, data.chosen, data.classes, prepare, data.vary, data.labels, data.targets)


def first_of(data: Prepared, count: int) -> Prepared:
    """The first ``count`` samples; all where ``count`` is 0."""
    if not count or count >= len(data):
        return data
    targets = None if data.targets is None else data.targets[:count]
    return Prepared(
        data.rows, data.chosen[:count], data.classes, data.prepare, data.vary, data.labels[:count], targets
    )
