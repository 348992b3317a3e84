"""Thresholds that are read off a histogram of the absolute values: hist and KL. Both see the data twice.

The first pass finds the range, the second counts. Paddle's bins begin at the smallest absolute value, though
its thresholds are widths times a number of bins; here they begin at 0: the same wherever a value is near 0.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from engine.core.errors import ArgumentError, ModeError
from engine.quantization.calibration.calibrator import Calibrator, Values, floating

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

BINS = 2048
A_LEVEL = 0.01  # the share of values in the last bin from which they are not outliers
EQUAL = 1e-9  # divergences that differ by rounding only
CANDIDATES_AT_ONCE = 2**22  # numbers that a step of the KL search holds per array: 32 MB of float64


class Histogram(Calibrator):
    """Counts absolute values in equally wide bins from 0 to the largest one.

    ``bins`` is 2048, as in Paddle, and doubles with each bit above 8: a level is always 16 bins wide.
    """

    passes: ClassVar[int] = 2

    def __init__(self, bits: int = 8, *, bins: int | None = None) -> None:
        super().__init__(bits)
        self._bins = bins if bins is not None else BINS * 2 ** max(0, bits - 8)
        if self._bins < 2:
            raise ArgumentError(
                f"calibration: a histogram of {bins} bins has no information; give at least 2"
            )
        self._counts: Values | None = None

    def collect_again(self, array: ArrayLike) -> None:
        """Counts a batch. A value beyond the first pass's range counts as the largest one.

        Raises ModeError before any `collect`.
        """
        if self._peak is None:
            raise ModeError("calibration: the range is not known yet; give every batch to collect first")
        if self._peak == 0.0:
            return
        if self._counts is None:
            self._counts = np.zeros(self._bins, np.int64)
        values = np.minimum(np.abs(floating(array).ravel()), self._peak)
        self._counts += np.histogram(values, bins=self._bins, range=(0.0, self._peak))[0]

    def _found(self) -> float:
        if self._counts is None:
            raise ModeError("calibration: nothing was counted; give every batch to collect_again too")
        return self.limit(self._counts) * float(self._peak or 0.0) / self._bins

    @abstractmethod
    def limit(self, counts: Values) -> float:
        """The threshold in widths of bins."""


class Percentile(Histogram):
    """``hist``: the middle of the bin in which the share ``hist_percent`` of all values is reached."""

    def __init__(self, bits: int = 8, *, hist_percent: float = 0.99999, bins: int | None = None) -> None:
        super().__init__(bits, bins=bins)
        if not 0.0 < hist_percent <= 1.0:
            raise ArgumentError(
                f"calibration: hist_percent {hist_percent} is not a share of the values; "
                "give more than 0 and at most 1"
            )
        self.hist_percent = hist_percent

    def limit(self, counts: Values) -> float:
        reached = np.cumsum(counts) >= self.hist_percent * counts.sum()
        return float(np.argmax(reached)) + 0.5


class Divergence(Histogram):
    """``KL``: the cut after which the quantized distribution loses the least information.

    Every cut from the middle bin on is tried: what lies beyond it is added to its last bin (P), the bins are
    merged to as many groups as there are levels, each spread evenly over its non-empty bins (Q), and the cut
    with the smallest Kullback-Leibler divergence of Q from P is taken. (8-bit Inference with TensorRT,
    S. Migacz, 2017; the groups are Paddle's: equally many bins each, the last one takes the rest.)

    The first bin is not counted, unless ``zeros``: it rounds to 0 whatever the cut, and nothing is lost. Q
    would spread the zeros behind a ReLU over the small values of their group, the more the wider the group
    is, and the smallest cut would win.
    """

    zeros: ClassVar[bool] = False

    def limit(self, counts: Values) -> float:
        if not self.zeros:
            counts = np.concatenate([np.zeros(1, counts.dtype), counts[1:]])
        start = (self._bins - 1) // 2
        # Up to 8 bits every cut is tried; with more bins, every second, fourth ... : as many cuts.
        cuts = np.arange(start, self._bins, max(1, self._bins // BINS))
        cuts = cuts[(cuts > 0) & (counts[cuts - 1] > 0)]
        if not cuts.size:  # all but the largest values lie in the lower half: one cut behind them
            cuts = np.flatnonzero(counts[: start + 1])[-1:] + 1
            cuts = cuts[cuts >= self.levels]  # fewer bins than levels lose nothing
        # Where so many are as large as the largest, they are not outliers (images in black and white): not to
        # cut is a candidate, too, which Paddle never tries.
        if counts[-1] > A_LEVEL * counts.sum() or not cuts.size:
            cuts = np.append(cuts, self._bins)
        at_once = max(1, CANDIDATES_AT_ONCE // self.levels)
        divergences = np.concatenate(
            [self._divergences(counts, cuts[i : i + at_once]) for i in range(0, len(cuts), at_once)]
        )
        if cuts[-1] == self._bins and divergences[-1] <= divergences.min() + EQUAL:
            return float(self._bins)
        return min(float(cuts[np.argmin(divergences)]) + 0.5, float(self._bins))

    def _divergences(self, counts: Values, cuts: Values) -> Values:
        """The divergence for each cut, up to what all cuts share.

        With p the counts, q = mass of p's group / filled bins of p's group: sum p log(p/q) needs sum p log p
        up to the cut, and for every group its mass and its filled bins: differences of cumulated sums.
        """
        mass = np.concatenate([[0], np.cumsum(counts)])
        filled = np.concatenate([[0], np.cumsum(counts > 0)])
        entropy = np.concatenate([[0.0], np.cumsum(counts * np.log(np.where(counts > 0, counts, 1)))])
        total = mass[-1]

        edges = (cuts // self.levels)[:, None] * np.arange(self.levels + 1)
        edges[:, -1] = cuts
        group_mass = np.diff(mass[edges], axis=1)
        group_filled = np.diff(filled[edges], axis=1)
        log_q = np.log(np.where(group_mass > 0, group_mass, 1) / np.maximum(group_filled, 1))

        outliers = total - mass[cuts]
        last = counts[cuts - 1] + outliers
        p_log_p = entropy[cuts - 1] + last * np.log(last)
        p_log_q = (group_mass * log_q).sum(axis=1) + outliers * log_q[:, -1]
        return np.asarray((p_log_p - p_log_q) / total + np.log(mass[cuts] / total))


class PaddleDivergence(Divergence):
    """``KL`` as Paddle 2.6.2 and PaddleSlim 2.6.0 have it: zeros are counted.

    LeNet on MNIST loses 0.4 to 0.9 points with it where pixels are in [0, 1], there as here.
    """

    zeros = True
