"""A tensor as plain values: what each view shows of it, whichever process holds the whole. No Qt."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Statistics:
    """Counts of special values, and figures of the finite ones; NaN where there is no finite value."""

    count: int = 0
    nan: int = 0
    positive_infinite: int = 0
    negative_infinite: int = 0
    zero: int = 0
    minimum: float = math.nan
    maximum: float = math.nan
    mean: float = math.nan
    deviation: float = math.nan
    bytes: int = 0

    @property
    def not_finite(self) -> int:
        """How many values are NaN or infinite."""
        return self.nan + self.positive_infinite + self.negative_infinite


@dataclass(frozen=True)
class Counts:
    """A histogram: counts of the finite values in equal bins from ``low`` to ``high``."""

    low: float = math.nan
    high: float = math.nan
    counts: tuple[int, ...] = ()
    not_finite: int = 0


@dataclass(frozen=True, eq=False)
class Planes:
    """Some channels of one sample: ``values`` (channels, rows, columns), of which the first is channel
    ``first`` of ``total``.

    ``low`` and ``high`` are of the finite values of the sample. Of large images every ``step``-th row and
    column is shown.
    """

    values: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))
    first: int = 0
    total: int = 0
    sample: int = 0
    samples: int = 1
    low: float = math.nan
    high: float = math.nan
    step: int = 1


@dataclass(frozen=True, eq=False)
class Block:
    """A rectangle of the table: ``values`` (rows, columns) from ``row`` and ``column`` on."""

    row: int
    column: int
    values: NDArray[Any]


def table_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of the table of a tensor: the last axis goes across, a vector goes down."""
    if len(shape) < 2:
        return math.prod(shape), 1
    return math.prod(shape[:-1]), shape[-1]


def index_at(shape: tuple[int, ...], row: int, column: int) -> tuple[int, ...]:
    """The index of a cell of the table."""
    if len(shape) < 2:
        return (row,) if shape else ()
    return (*_unravel(row, shape[:-1]), column)


def cell_at(shape: tuple[int, ...], index: tuple[int, ...]) -> tuple[int, int]:
    """Row and column of an index, the inverse of ``index_at``.

    Raises:
        ValueError: the index has another number of axes, or is outside.
    """
    if len(index) != len(shape) or any(not 0 <= at < size for at, size in zip(index, shape, strict=True)):
        raise ValueError(f"TensorTable: no index {list(index)} in the shape {list(shape)}")
    if len(shape) < 2:
        return (index[0] if shape else 0), 0
    row = 0
    for at, size in zip(index[:-1], shape[:-1], strict=True):
        row = row * size + at
    return row, index[-1]


def row_title(shape: tuple[int, ...], row: int) -> str:
    """The index of a row, without the last axis: ``0, 3``."""
    if len(shape) < 2:
        return str(row) if shape else ""
    return ", ".join(str(at) for at in _unravel(row, shape[:-1]))


def _unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    # Python's integers: a tensor may have more rows than NumPy's index type allows on some systems.
    found = []
    for size in reversed(shape):
        flat, at = divmod(flat, size or 1)
        found.append(at)
    return tuple(reversed(found))
