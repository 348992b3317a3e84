"""The exponential moving average drawn over a raw trace, with its start-up bias removed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from resources.words import marked

Floats = NDArray[np.float64]

FORMULA = marked(
    "s\u2099 = a\u00b7s\u2099\u208b\u2081 + (1 \u2212 a)\u00b7y\u2099,  shown: s\u2099 / (1 \u2212 a\u207f),"
    "  a = 1 \u2212 1 / (share \u00b7 points)"
)
SHARES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)
"""The shares of a run that can be chosen; 0 is off."""
GROWTH = 1.1


def weight_of(share: float, count: int) -> float:
    """The weight a of an average over about ``share`` (0 to 1) of ``count`` points; 0 is off.

    The count is rounded down to a power of 1.1, so that a curve that grows is smoothed anew now and then
    only, and looks the same in whatever pieces it came.
    """
    if share <= 0 or count < 1:
        return 0.0
    rounded = GROWTH ** math.floor(math.log(count) / math.log(GROWTH) + 1e-9)
    return max(0.0, 1.0 - 1.0 / max(1.0, share * rounded))


class Ema:
    """Bias-corrected moving average that continues over batches and ignores values that are not finite.

    With the weight a in [0, 1): s_n = a s_(n-1) + (1 - a) y_n from s_0 = 0, and s_n / (1 - a^n) is shown (the
    bias correction of Adam, Kingma and Ba 2015). a = 0 gives the values themselves.
    """

    def __init__(self, weight: float) -> None:
        if not 0 <= weight < 1:
            raise ValueError(f"Ema: the weight must be at least 0 and under 1: {weight}")
        self.weight = weight
        self._state = 0.0
        self._count = 0

    def extend(self, values: Floats) -> Floats:
        """The averages belonging to the next values; NaN where the value isn't finite."""
        if self.weight == 0:
            return np.where(np.isfinite(values), values, np.nan)
        finite = np.isfinite(values)
        averages = np.full(len(values), np.nan)
        averages[finite] = self._finite(values[finite])
        return averages

    def _finite(self, values: Floats) -> Floats:
        count = len(values)
        if not count:
            return values
        a = self.weight
        # In blocks: within one, sum(a^(j-i) y_i) is a^j cumsum(a^-i y_i); a^-i stays under 1e200.
        size = int(max(1, min(256, 200 / -np.log10(a))))
        blocks = -(-count // size)
        padded = np.zeros(blocks * size)
        padded[:count] = values
        powers = a ** np.arange(size)
        local = (1 - a) * powers * np.cumsum(padded.reshape(blocks, size) / powers, axis=1)
        carries = np.empty(blocks)
        carry, decay = self._state, a**size
        for row, end in enumerate(local[:, -1].tolist()):
            carries[row] = carry
            carry = end + decay * carry
        sums = (local + a * powers * carries[:, None]).ravel()[:count]
        self._state = float(sums[-1])
        # The correction is 1 to the last bit once a^n is under 1e-17.
        needed = min(count, max(0, int(np.ceil(-17 / np.log10(a))) - self._count))
        sums[:needed] /= 1 - a ** np.arange(self._count + 1, self._count + needed + 1)
        self._count += count
        return np.asarray(sums, np.float64)
