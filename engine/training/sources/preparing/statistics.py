"""Statistics of training samples: fill values of missing numbers, means and deviations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.training.sources.rows import Rows

_VALUES_AT_ONCE = 8192
_MOST_VALUES = 64 << 20
"""So many numbers are in memory for medians; of more, evenly chosen samples are taken."""


def fill_values(rows: Rows, chosen: np.ndarray, how: str, words: np.ndarray) -> tuple[float, ...]:
    """For each column of a table what stands in for a missing number: its median or mean, or zero.

    Args:
        how: median, mean or zero. words: which columns hold words; these have 0.
    """
    columns = rows.shape[0]
    if how == "zero":
        return (0.0,) * columns
    chosen = np.sort(chosen)
    most = max(1, _MOST_VALUES // columns)
    if len(chosen) > most:
        chosen = chosen[np.linspace(0, len(chosen) - 1, most).astype(np.int64)]
    values = np.empty((len(chosen), columns), np.float32)
    size = max(1, _VALUES_AT_ONCE // columns)
    for begin in range(0, len(chosen), size):
        values[begin : begin + size] = rows.read(chosen[begin : begin + size])
    fills = []
    for column in range(columns):
        known = values[:, column]
        known = known[np.isfinite(known)]
        if words[column] or not len(known):
            fills.append(0.0)
        else:
            fills.append(float(np.median(known) if how == "median" else known.mean(dtype=np.float64)))
    return tuple(float(np.float32(fill)) for fill in fills)


def mean_and_deviation(
    rows: Rows, chosen: np.ndarray, scaled: Callable[[np.ndarray], np.ndarray], masked: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of each column of a table, or of each value of the steps of sequences.

    Args:
        masked: the last value of a step says whether it is one; it is neither counted nor measured.
    """
    width = rows.shape[-1]
    size = max(1, _VALUES_AT_ONCE // max(1, int(np.prod(rows.shape))))
    count, mean, squares = np.zeros(width), np.zeros(width), np.zeros(width)
    chosen = np.sort(chosen)
    for begin in range(0, len(chosen), size):
        values = scaled(np.asarray(rows.read(chosen[begin : begin + size]))).reshape(-1, width)
        flat = values.astype(np.float64)
        known = np.isfinite(flat)
        if masked:
            known &= flat[:, -1:] > 0
        new = known.sum(axis=0)
        total = np.maximum(count + new, 1)
        # Joined as by Chan, Golub, LeVeque (1979): sums of squares lose what is small next to the mean.
        own = np.where(known, flat, 0.0).sum(axis=0) / np.maximum(new, 1)
        spread = (np.where(known, flat - own, 0.0) ** 2).sum(axis=0)
        away = own - mean
        squares += spread + away**2 * count * new / total
        mean += away * new / total
        count += new
    deviation = np.sqrt(squares / np.maximum(count, 1))
    # What is the same in all samples says nothing; it only moves to 0.
    deviation = np.where(deviation > 1e-7 * np.abs(mean), deviation, 1.0)
    deviation = np.where(deviation > 1e-30, deviation, 1.0)
    if masked:
        mean[-1], deviation[-1] = 0.0, 1.0
    return mean, deviation
