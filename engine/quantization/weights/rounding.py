"""Adaptive rounding: each weight up or down, so that the layer's results change least on calibration data.

The objective is that of M. Nagel et al., "Up or down? Adaptive rounding for post-training quantization"
(AdaRound, 2020, arXiv:2004.10568): with e the rounding errors of a row of the weight and H the mean of x x^T
over what the layer multiplies it with, the results change by e^T H e in the mean square. They relax it to
numbers between 0 and 1; here single weights are rounded the other way as long as that lessens it, which
begins at the nearest integers and so is never worse.
"""

from __future__ import annotations

import numpy as np

from engine.quantization.calibration import levels
from engine.quantization.weights.contraction import Array, Contraction

LARGEST = 4608  # entries of a row (512 channels of 3 x 3): H takes the square of that
ROWS = 8192  # of a batch that H is the mean of
SWEEPS = 20
DAMPING = 0.01  # of H's mean diagonal: few samples must not make errors free in directions that they lack


class Correlation:
    """Collects H of one layer while its values come by, [groups, entries, entries]."""

    def __init__(self, contraction: Contraction) -> None:
        self.contraction = contraction
        shape = (contraction.groups, contraction.entries, contraction.entries)
        self._sum: Array = np.zeros(shape, np.float32)
        self._count = 0

    def collect(self, values: Array) -> None:
        """Takes a batch of what the layer is fed; of many windows of images some, drawn at random."""
        x = self.contraction.values(np.asarray(values, np.float32))
        enough = max(ROWS, self.contraction.entries)
        if x.shape[1] > enough:
            random = np.random.default_rng(self._count)
            x = x[:, random.choice(x.shape[1], enough, replace=False)]
        self._sum += np.matmul(x.swapaxes(1, 2), x)
        self._count += x.shape[1]

    def mean(self) -> Array:
        """H, with the damping."""
        mean = self._sum.astype(np.float64) / max(self._count, 1)
        size = mean.shape[1]
        diagonal = np.trace(mean, axis1=1, axis2=2) / size
        mean[:, range(size), range(size)] += (DAMPING * diagonal)[:, None]
        return mean


def fits(contraction: Contraction) -> bool:
    """Whether H of a layer is small enough to be stored."""
    return contraction.entries <= LARGEST


def adaptive_rounding(
    weight: Array, thresholds: Array, axis: int | None, bits: int, correlation: Correlation
) -> Array:
    """The integers, of the weight's dtype and shape, that change the layer's results least.

    `thresholds` are of shape (channels,) along `axis`, that of the output's channels, or (1,) for None. Each
    integer is one of the two next to the weight, within `bits`.
    """
    highest = levels(bits)
    limits = np.asarray(thresholds, np.float64).reshape([-1 if i == axis else 1 for i in range(weight.ndim)])
    steps = np.where(limits > 0, limits, 1.0) / highest
    rows = correlation.contraction.rows(weight / steps)
    found = np.stack(
        [_descend(of_group, h, highest) for of_group, h in zip(rows, correlation.mean(), strict=True)]
    )
    return correlation.contraction.weight(found).astype(weight.dtype)


def _descend(exact: Array, h: Array, highest: int) -> Array:
    """The integers of one group: `exact` [channels, entries] in steps, `h` [entries, entries]."""
    integers = np.clip(np.rint(exact), -highest - 1, highest)
    error = integers - exact
    slope = error @ h
    for _ in range(SWEEPS):
        changed = False
        for k in range(exact.shape[1]):
            # To the integer on the other side; none where that one is out of range or the weight is whole.
            move = -np.sign(error[:, k])
            move[(integers[:, k] + move > highest) | (integers[:, k] + move < -highest - 1)] = 0.0
            better = 2.0 * move * slope[:, k] + move * move * h[k, k] < -1e-9 * h[k, k]
            if better.any():
                integers[better, k] += move[better]
                error[better, k] += move[better]
                slope[better] += move[better, None] * h[k]
                changed = True
        if not changed:
            break
    return integers
