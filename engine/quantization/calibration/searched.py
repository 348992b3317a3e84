"""Thresholds that are searched: of some shares of the largest absolute value, the one with the least loss.

Paddle's search (2.6): 0.30, 0.32, ... 0.98 of each batch's own largest value are tried, and the candidate
with the smallest loss over all batches is kept, on equal losses the later one. Values are quantized
symmetrically, as in the onnx format; the older format cuts negative values to 0 and is not offered.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from engine.quantization.calibration.calibrator import Calibrator, Values


def _shares() -> list[float]:
    """Added up as Paddle does: the sum that should be 1.00 is a little more and is not tried."""
    shares, share = [], 0.3
    while share <= 1.0:
        shares.append(share)
        share += 0.02
    return shares


SHARES = tuple(_shares())


class Search(Calibrator):
    """Keeps the candidate with the smallest loss between values and quantized values."""

    shares: ClassVar[tuple[float, ...]] = SHARES

    def __init__(self, bits: int = 8) -> None:
        super().__init__(bits)
        self._best = np.inf
        self._threshold = 0.0

    def _take(self, values: Values, peak: float) -> None:
        if peak == 0.0:  # every threshold fits, and none may win against those of other batches
            return
        values = values.ravel()
        quantized = np.empty_like(values)
        for share in self.shares:
            candidate = share * peak
            np.divide(values, candidate, out=quantized)
            np.multiply(quantized, self.levels, out=quantized)
            np.rint(quantized, out=quantized)
            np.clip(quantized, -self.levels - 1, self.levels, out=quantized)
            np.divide(quantized, self.levels, out=quantized)
            np.multiply(quantized, candidate, out=quantized)
            loss = self._loss(values, quantized)
            if loss <= self._best:
                self._best, self._threshold = loss, candidate

    def _found(self) -> float:
        return self._threshold

    @abstractmethod
    def _loss(self, values: Values, quantized: Values) -> float:
        """How far `quantized` is from `values`; may overwrite `quantized`."""


class SquaredError(Search):
    """``mse``: the mean squared error."""

    def _loss(self, values: Values, quantized: Values) -> float:
        np.subtract(values, quantized, out=quantized)
        return float(np.square(quantized, out=quantized).mean())


class PowersOfTwo(SquaredError):
    """``ptf``: the mean squared error of the whole, half, a quarter and an eighth of the largest value.

    Paddle's takes the choice of the last batch, and cuts negative values to 0.
    """

    shares = (0.125, 0.25, 0.5, 1.0)


class EarthMover(Search):
    """``emd``: how far means and standard deviations are apart, a bound of the earth mover's distance."""

    def __init__(self, bits: int = 8) -> None:
        super().__init__(bits)
        self._of: tuple[float, float] = 0.0, 0.0

    def _take(self, values: Values, peak: float) -> None:
        self._of = float(values.mean()), float(values.std())
        super()._take(values, peak)

    def _loss(self, values: Values, quantized: Values) -> float:
        mean, deviation = self._of
        return abs(mean - float(quantized.mean())) + abs(deviation - float(quantized.std()))
