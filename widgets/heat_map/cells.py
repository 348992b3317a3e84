"""Rows grouped into the cells of a grid: the values of two columns, and a statistic of a third. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from resources.quantities import number as format_number
from widgets.diagram.column import Column
from widgets.diagram.scale import Scale

Statistic = Literal["mean", "best"]
MOST_VALUES, RANGES = 20, 10


@dataclass(frozen=True, eq=False)
class Bins:
    """``labels`` of the values or ranges of a column in ascending order, and for each row the position of its
    own; -1 for a row without a value."""

    labels: tuple[str, ...]
    codes: NDArray[np.int64]


def bins_of(column: Column) -> Bins:
    """Each value by itself where they are few; numbers in ten ranges, and categories after the most frequent
    ones together."""
    known, values = column.known(), column.values
    distinct, places = np.unique(values[known], return_inverse=True)
    codes = np.full(len(values), -1, np.int64)
    if len(distinct) <= MOST_VALUES:
        codes[known] = places
        return Bins(tuple(column.words(value) for value in distinct.tolist()), codes)
    if column.is_categorical:
        counts = np.bincount(places)
        first = np.sort(np.argsort(-counts, kind="stable")[: MOST_VALUES - 1])
        position = np.full(len(distinct), len(first), np.int64)
        position[first] = np.arange(len(first))
        codes[known] = position[places]
        others = f"+{format_number(len(distinct) - len(first))}"
        return Bins((*(column.words(float(distinct[each])) for each in first.tolist()), others), codes)
    scale = Scale.of(column, log=column.suits_log())
    units = scale.unit(values)
    codes[known] = np.clip(np.nan_to_num(units[known]) * RANGES, 0, RANGES - 1).astype(np.int64)
    ends = [column.words(scale.value(place / RANGES)) for place in range(RANGES + 1)]
    return Bins(tuple(f"{low} – {high}" for low, high in pairwise(ends)), codes)


@dataclass(frozen=True, eq=False)
class Cells:
    """``values`` and ``counts`` are [values of y, values of x]; a cell without a finite metric is NaN.

    ``cells`` has for each row the number of its cell, counted through the rows of the grid; -1 for none.
    """

    x: Bins
    y: Bins
    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    cells: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, int]:
        """How many values of y and of x there are."""
        return len(self.y.labels), len(self.x.labels)


def cells_of(x: Column, y: Column, metric: Column, statistic: Statistic) -> Cells:
    """The grid of two columns with the mean of the metric in each cell, or the best.

    The best is the least where less is better, else the greatest. Rows without a finite metric are counted.
    """
    across, up = bins_of(x), bins_of(y)
    wide, size = len(across.labels), len(across.labels) * len(up.labels)
    cells = np.where((across.codes < 0) | (up.codes < 0), -1, up.codes * wide + across.codes)
    inside = cells >= 0
    counts = np.bincount(cells[inside], minlength=size)
    measured = inside & metric.known()
    at, found = cells[measured], metric.values[measured]
    if statistic == "mean":
        with np.errstate(all="ignore"):
            sums = np.bincount(at, found, minlength=size)
            values = sums / np.bincount(at, minlength=size)
    else:
        less = metric.better == "less"
        values = np.full(size, np.inf if less else -np.inf)
        (np.minimum if less else np.maximum).at(values, at, found)
    values = np.where(np.isfinite(values), values, np.nan)
    shape = len(up.labels), wide
    return Cells(across, up, values.reshape(shape), counts.reshape(shape), cells)
