"""A histogram whose range grows with the values that come by: for those who see each batch only once."""

from __future__ import annotations

import math

import numpy as np

from engine.quantization.calibration.calibrator import Values

FINER = 64  # parts that a bin is cut into when the counts move to a wider range


class GrowingHistogram:
    """Counts values in ``bins`` equally wide bins from ``low`` to ``high``.

    A batch outside the range widens it to an integer number of the old bins' parts (``finer`` in each), and
    what was counted moves over as if it lay evenly in its bin: counts may then have fractions. A batch of
    equal values says nothing of a distribution and is not counted; ``counts`` is None while there was no
    other.
    """

    def __init__(self, bins: int, finer: int = FINER) -> None:
        self.bins, self._finer = bins, finer
        self.low = self.high = 0.0
        self.counts: Values | None = None

    @property
    def width(self) -> float:
        """The width of a bin."""
        return (self.high - self.low) / self.bins

    def add(self, values: Values, low: float, high: float) -> None:
        """Count ``values``, which lie between ``low`` and ``high``."""
        if self.counts is None:
            self.low, self.high = low, high
        if low == high:
            return
        if self.counts is None:
            self.counts = self._counted(values)
            return
        if low < self.low or high > self.high:
            self.counts = self._moved(self.counts, min(low, self.low), max(high, self.high))
        self.counts = self.counts + self._counted(values)

    def _counted(self, values: Values) -> Values:
        return np.histogram(values, bins=self.bins, range=(self.low, self.high))[0].astype(np.float32)

    def _moved(self, counts: Values, low: float, high: float) -> Values:
        """The counts over the wider range from ``low`` to at least ``high``, which becomes this one's."""
        part = self.width / self._finer
        parts = math.ceil((high - low) / (self.bins * part))  # parts of an old bin in a new one
        start = round((self.low - low) / part)
        cut = np.zeros(self.bins * parts)
        cut[start : start + self.bins * self._finer] = np.repeat(counts, self._finer)
        self.low, self.high = low, low + self.bins * part * parts
        moved: Values = (cut.reshape(self.bins, parts).sum(axis=1) / self._finer).astype(np.float32)
        return moved
