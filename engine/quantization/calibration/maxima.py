"""Thresholds that are read off the largest values: abs_max, avg, min_max."""

from __future__ import annotations

import numpy as np

from engine.core.errors import ArgumentError
from engine.quantization.calibration.calibrator import Calibrator, Values


class AbsMax(Calibrator):
    """``abs_max``: the largest absolute value of all."""

    def _found(self) -> float:
        return float(self._peak or 0.0)


class Average(Calibrator):
    """``avg``: the largest absolute value of a sample, averaged over a batch, and then over the batches."""

    def __init__(self, bits: int = 8) -> None:
        super().__init__(bits)
        self._sum = 0.0
        self._batches = 0

    def _take(self, values: Values, peak: float) -> None:
        samples = values.reshape(values.shape[0] if values.ndim else 1, -1)
        self._sum += float(np.abs(samples).max(axis=1).mean())
        self._batches += 1

    def _found(self) -> float:
        return self._sum / self._batches


class MinMax(Calibrator):
    """``min_max``: the smallest and the largest value; their larger absolute value is the threshold."""

    def __init__(self, bits: int = 8) -> None:
        super().__init__(bits)
        self._range: tuple[float, float] | None = None

    def _take(self, values: Values, peak: float) -> None:
        low, high = float(values.min()), float(values.max())
        if self._range is not None:
            low, high = min(low, self._range[0]), max(high, self._range[1])
        self._range = low, high

    def range(self) -> tuple[float, float]:
        """The smallest and the largest value. Raises ArgumentError where no values were collected."""
        if self._range is None:
            raise ArgumentError(
                "calibration: no values were collected, so there is no range; give at least one sample"
            )
        return self._range

    def _found(self) -> float:
        low, high = self.range()
        return max(abs(low), abs(high))
