"""Scale: where values are on an axis from 0 to 1, linear, logarithmic, by category, or flipped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from widgets.diagram.column import Column
from widgets.plot.ticks import log_ticks, nice_ticks

FEW = 8
_SMALLEST = 1e-300  # a range below this has no round numbers in it


@dataclass(frozen=True)
class Scale:
    """From ``low`` to ``high``, which are logarithms where ``log``. ``count`` is the number of categories."""

    low: float
    high: float
    log: bool = False
    flipped: bool = False
    count: int = 0

    @classmethod
    def of(cls, column: Column, log: bool = False, flipped: bool = False, margin: float = 0.0) -> Scale:
        """The scale of all finite values, with a share of the range free at both ends.

        It is linear where no value is positive. One value is in the middle.
        """
        if column.is_categorical:
            last = len(column.labels) - 1
            edge = max(margin * last, 0.5 if margin or not last else 0.0)
            return cls(-edge, last + edge, False, flipped, len(column.labels))
        known = column.values[column.known()]
        log = log and bool((known > 0).any())
        if log:
            known = np.log10(known[known > 0])
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        if high / 2 - low / 2 < max(_SMALLEST, 1e-14 * max(abs(low), abs(high))):
            edge = abs(low) / 2 if not log and abs(low) > _SMALLEST else 0.5
            low, high = low - edge, high + edge
        elif margin:
            edge = (high / 2 - low / 2) * 2 * margin
            low, high = low - edge, high + edge
        limit = 1.7e308
        return cls(max(low, -limit), min(high, limit), log, flipped)

    def unit(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The positions, NaN for a value without one: not finite, or not positive on a logarithmic axis."""
        values = np.asarray(values, np.float64)
        with np.errstate(all="ignore"):
            placed = np.log10(values) if self.log else values
            units = (placed / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        units = np.where(np.isfinite(units), units, np.nan)
        return 1.0 - units if self.flipped else units

    def value(self, unit: float) -> float:
        """The value at a position."""
        share = 1.0 - unit if self.flipped else unit
        placed = self.low * (1 - share) + self.high * share
        return 10.0 ** min(placed, 308.0) if self.log else placed

    def flip(self) -> Scale:
        """The same the other way round."""
        return replace(self, flipped=not self.flipped)

    def ticks(self, column: Column, most: int) -> list[tuple[float, str]]:
        """Positions with their texts, at most about ``most``: the values themselves where they are few.

        Up to ``FEW`` values are always few: no round number says which ones were tried.
        """
        values: Sequence[float] = column.distinct().tolist()
        if self.count:
            step = max(1, -(-self.count // max(1, most)))
            values = [float(place) for place in range(0, self.count, step)]
        elif 0 < len(values) <= max(FEW, most):
            pass
        elif self.log:
            values = [10.0**each for each in log_ticks(self.low, self.high, max(2, most))]
        else:
            # Without 2.5: a column writes two digits of 1.25.
            values = nice_ticks(self.low, self.high, max(2, most), (10, 5, 2))[1]
        units = self.unit(np.array(values, np.float64)).tolist()
        return [
            (unit, column.words(value))
            for unit, value in zip(units, values, strict=True)
            if math.isfinite(unit) and -1e-9 <= unit <= 1 + 1e-9
        ]
