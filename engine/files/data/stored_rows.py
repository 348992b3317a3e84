"""Arrays that stay in their file: rows are read when they are asked for, in any order."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from engine.core.errors import DataError
from engine.files.data.stored_file import ShorterError, StoredFile, shorter_error

IN_MEMORY = 512 << 20
"""Bytes of an array of small rows that is read into memory once a quarter of it was asked for."""
_SMALL_ROW = 4096  # to copy such a row takes less time than to ask the system for it


class StoredRows:
    """An array whose numbers begin at ``offset`` of a file; its rows are along the first axis.

    Args:
        file: where they are.
        dtype: of the numbers.
        offset: of the first number.
        shape: of the array.
        order: "F" where the numbers of a column are next to each other in the file.

    Raises:
        ValueError: the file ends before the array does, or the numbers have no bytes.
    """

    def __init__(
        self,
        file: StoredFile,
        dtype: np.dtype[Any],
        offset: int,
        shape: tuple[int, ...],
        order: Literal["C", "F"] = "C",
    ) -> None:
        self.dtype, self.shape = np.dtype(dtype), tuple(shape)
        self._file, self._offset, self._order = file, offset, order
        self._rows, values = (self.shape or (1,))[0], math.prod(self.shape[1:])
        # In a file by columns each of them is an array by itself, with one value a row.
        columns = order == "F"
        self._columns = values if columns else 1
        self._row = self.dtype.itemsize * (1 if columns else values)
        size = self._rows * self._columns * self._row
        if file.length < offset + size or not self.dtype.itemsize:
            raise ValueError(f"{file.length} bytes are too few for {self.dtype} {list(self.shape)}")
        self._fits = self._row < _SMALL_ROW and size <= IN_MEMORY
        self._taken = 0
        self._in_memory: np.ndarray | None = None

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The rows of these numbers, in this order.

        Raises:
            ShorterError: the file became shorter. DataError: it can't be read.
        """
        indices = np.asarray(indices, np.int64)
        if self._in_memory is None and self._fits and self._taken > self._rows // 4:
            self._in_memory = self._read(np.arange(self._rows))
        if self._in_memory is not None:
            return np.asarray(self._in_memory[indices])
        if len(indices) and not 0 <= indices.min() <= indices.max() < self._rows:
            raise IndexError(f"{self._file.path}: rows from 0 to {self._rows - 1}, not {indices}")
        self._taken += len(indices)
        return self._read(indices)

    def whole(self, most: int | None = None) -> np.ndarray:
        """The array. Raises as ``take``; DataError too for one of more than ``most`` bytes."""
        size = math.prod(self.shape) * self.dtype.itemsize
        if most is not None and size > most:
            raise DataError(
                f"{self._file.path}: an array of {size >> 20} MB, over {most >> 20}: {self.dtype} "
                f"{list(self.shape)}; give a part of it"
            )
        return self._read(np.arange(self._rows)).reshape(self.shape)

    def _read(self, indices: np.ndarray) -> np.ndarray:
        made = np.empty((self._columns, len(indices) * self._row), np.uint8)
        breaks = np.flatnonzero(np.diff(indices) != 1) + 1
        begins = np.concatenate([np.zeros(min(1, len(indices)), np.int64), breaks])
        ends = np.append(breaks, len(indices))[: len(begins)]
        runs = list(
            zip(
                (begins * self._row).tolist(),
                (ends * self._row).tolist(),
                (indices[begins] * self._row + self._offset).tolist(),
                strict=True,
            )
        )
        read_into = self._file.read_into
        try:
            for column in range(self._columns):
                view, skipped = memoryview(made[column]), column * self._rows * self._row
                for begin, end, place in runs:
                    read_into(view[begin:end], place + skipped)
        except ShorterError:
            last = self._offset + (self._columns - 1) * self._rows * self._row
            left = min(self._rows, self._file.bytes_from(last) // self._row)
            raise shorter_error(self._file.path, left, self._rows, "rows") from None
        shape = (len(indices), *self.shape[1:])
        if self._order == "F":
            return made.reshape(-1).view(self.dtype).reshape(self._columns, -1).T.reshape(shape, order="F")
        return made.reshape(-1).view(self.dtype).reshape(shape)
