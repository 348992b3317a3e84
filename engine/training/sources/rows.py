"""Rows: the samples of a source by number, read as they lie there; and the arrays that most are read from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.kinds import SampleForm, form_of_input, sample_form
from resources.settings.data import STORED

NO_LABEL = -1
LARGEST_SAMPLE = 256 << 20
"""Bytes of one sample; more are refused."""


class Rows(ABC):
    """Samples of one place, numbered from 0.

    ``labels`` (int64 [n]) are the numbers of their classes, ``NO_LABEL`` where there is none; where numbers
    are to be predicted, ``targets`` (float32 [n, k]) has them as they are, and labels are 0, or ``NO_LABEL``
    where a number is missing. ``shape`` is that of a sample: [height, width, channels] for images (bytes from
    0 to 255, or floats as they are), any other for ``is_image=False``. ``others`` are the further inputs of
    the same samples, for a model that takes several.
    ``is_integers``: samples are int64 instead of float32.
    """

    labels: np.ndarray
    targets: np.ndarray | None = None
    shape: tuple[int, ...]
    is_image: bool
    others: tuple[TableRows, ...] = ()
    is_integers: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    @abstractmethod
    def read(self, indices: np.ndarray) -> np.ndarray | list[np.ndarray]:
        """The samples of these numbers: one array [n, *shape], or a list where their sizes may differ.

        Raises:
            DataError: a sample can't be read; names it.
        """

    def read_resized(self, indices: np.ndarray) -> np.ndarray | list[np.ndarray]:
        """As ``read``; images may have the size already that they are resized to. Raises DataError."""
        return self.read(indices)

    def find_damaged(self, report: Callable[[int, int], None] | None = None) -> np.ndarray:
        """Which samples are files that can't be read: bool [n].

        Args:
            report: is given how many of how many were looked at.
        """
        return np.zeros(len(self), np.bool_)

    @abstractmethod
    def where(self, index: int) -> str:
        """Where a sample lies, as people find it: a file, or a row of an array."""


class Table(Protocol):
    """Numbers in rows, of which some can be read without the others."""

    @property
    def shape(self) -> tuple[int, ...]:
        """That of all rows together."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the numbers."""

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The rows of these numbers, in this order."""


@dataclass
class ArrayTable:
    """An array in memory."""

    array: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    def take(self, indices: np.ndarray) -> np.ndarray:
        return np.asarray(self.array[indices])


class TableRows(Rows):
    """The rows of a table, arranged as what they are: images, vectors or sequences.

    [n, H, W], [n, H, W, C] and [n, C, H, W] are images of C channels; where first or last may be the
    channels, the smaller is.

    Args:
        name: of the table, for messages.
        kind: of the samples, as asked for: ``auto``, ``stored``, images, table or sequences.
        targets: float32 [n, k], the numbers to predict.
        lengths: whether the table's sequences have lengths, and a mask.
        array: the name of the table's array.
        several: whether it is one of several inputs: see ``form_of_input``, and integers stay integers.

    Raises:
        DataError: not numbers, no rows, another number of labels, a kind that does not fit, or samples too
            large to be read.
    """

    def __init__(
        self,
        table: Table,
        labels: np.ndarray,
        name: str,
        kind: str = STORED,
        targets: np.ndarray | None = None,
        lengths: bool = False,
        array: str = "",
        several: bool = False,
    ) -> None:
        shape = tuple(int(size) for size in table.shape)
        if table.dtype.kind not in "buif" or not shape:
            raise DataError(
                f"{name}: not numbers in rows: {table.dtype} {list(shape)}; choose another array for "
                "the inputs"
            )
        if 0 in shape:
            raise DataError(f"{name}: it is empty: {list(shape)}; choose another")
        if shape[0] != len(labels):
            raise DataError(
                f"{name}: inputs and labels don't belong together: {shape[0]} rows, {len(labels)} labels; "
                "choose arrays of the same data"
            )
        row = int(np.prod(shape[1:], dtype=np.int64)) * table.dtype.itemsize
        if row > LARGEST_SAMPLE:
            raise DataError(
                f"{name}: one sample takes {row >> 20} MB, over {LARGEST_SAMPLE >> 20}: {list(shape)}; store "
                "smaller samples"
            )
        self._table, self._name, self.labels, self.targets = table, name, labels, targets
        self.array = array
        form = form_of_input if several else sample_form
        self.form: SampleForm = form(name, shape[1:], table.dtype, kind, lengths)
        self.is_image = self.form.kind == "images"
        self.is_integers = several and not self.is_image and table.dtype.kind in "iu"
        self.shape = self._arranged(np.zeros((1, *shape[1:]), np.uint8)).shape[1:]

    def read(self, indices: np.ndarray) -> np.ndarray:
        taken = self._table.take(np.asarray(indices, np.int64))
        if self.is_integers:
            taken = taken.astype(np.int64, copy=False)
        elif taken.dtype != np.uint8:
            taken = taken.astype(np.float32, copy=False)
        return self._arranged(taken)

    def _arranged(self, rows: np.ndarray) -> np.ndarray:
        layout = self.form.layout
        if layout in ("grey", "steps"):
            return rows[..., None]
        if layout == "first":
            return rows.transpose(0, 2, 3, 1)
        if layout == "flat":
            return rows.reshape(len(rows), -1)
        return rows[:, None] if rows.ndim == 1 else rows

    def where(self, index: int) -> str:
        return f"{self._name} row {index}"


class FunctionRows(Rows):
    """Images that a function reads: the built-in data sets."""

    def __init__(
        self, read: Callable[[np.ndarray], np.ndarray], labels: np.ndarray, shape: tuple[int, ...], name: str
    ) -> None:
        self._read, self.labels, self.shape, self._name = read, labels, shape, name
        self.is_image = True

    def read(self, indices: np.ndarray) -> np.ndarray:
        return self._read(np.asarray(indices, np.int64))[..., None]

    def where(self, index: int) -> str:
        return f"{self._name} {index}"
