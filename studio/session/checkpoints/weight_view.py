"""WeightView: the weights of a layer at one checkpoint as images or a distribution, and what changed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

MOST_PLANES, MOST_SIDE, BINS = 64, 256, 40

Array = NDArray[np.float32]


def _none() -> Array:
    return np.zeros((0, 0, 0), np.float32)


@dataclass(frozen=True)
class Range:
    """The least and the largest finite value; NaN without one."""

    low: float = math.nan
    high: float = math.nan

    def joined(self, other: Range) -> Range:
        """Both together."""
        if math.isnan(self.low) or math.isnan(other.low):
            return other if math.isnan(self.low) else self
        return Range(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True, eq=False)
class Distribution:
    """Counts of the finite values in equal bins of a range, and how many values are not finite."""

    range: Range = field(default_factory=Range)
    counts: tuple[int, ...] = ()
    not_finite: int = 0


@dataclass(frozen=True, eq=False)
class WeightView:
    """A layer at a checkpoint, and the differences to the checkpoint ``before`` (its step, -1 for none).

    ``planes`` [count, rows, columns] are the first of ``total`` filters, or one matrix, of which every
    ``stride``-th row and column is shown; a vector has none. ``scale`` is the range of the weights over all
    checkpoints that were read, ``difference_scale`` that of these differences.
    ``change`` is the norm of the differences divided by that of the weights before; NaN without any.
    """

    layer: str
    shape: tuple[int, ...]
    step: int
    before: int = -1
    planes: Array = field(default_factory=_none)
    differences: Array = field(default_factory=_none)
    total: int = 0
    stride: int = 1
    scale: Range = field(default_factory=Range)
    difference_scale: Range = field(default_factory=Range)
    distribution: Distribution = field(default_factory=Distribution)
    difference_distribution: Distribution = field(default_factory=Distribution)
    change: float = math.nan

    @property
    def is_images(self) -> bool:
        """Whether there are planes: filters or a matrix."""
        return len(self.planes) > 0


def range_of(values: Array) -> Range:
    """The least and the largest finite value."""
    finite = values[np.isfinite(values)]
    return Range(float(finite.min()), float(finite.max())) if finite.size else Range()


def difference_of(values: Array, before: Array) -> Array:
    """The differences to the weights before; infinite ones are NaN where both are."""
    with np.errstate(all="ignore"):
        return np.asarray(values - before, np.float32)


def planes_of(values: Array) -> tuple[Array, int, int]:
    """The images of a layer [count, rows, columns], of how many, and every which row and column; none of a
    vector.

    A convolution has one for each filter and input channel; other weights are one matrix.
    """
    if values.ndim < 2:
        return _none(), 0, 1
    if values.ndim >= 4 and max(values.shape[-2:]) > 1:
        planes = values.reshape(-1, *values.shape[-2:])
    else:
        planes = values.reshape(1, values.shape[0], -1)
    total = len(planes)
    stride = max(1, -(-max(planes.shape[1:]) // MOST_SIDE))
    return np.ascontiguousarray(planes[:MOST_PLANES, ::stride, ::stride]), total, stride


def distribution_of(values: Array, scale: Range) -> Distribution:
    """Counts in the bins of ``scale``, which contains the finite values."""
    finite = values[np.isfinite(values)]
    bad = values.size - finite.size
    if math.isnan(scale.low) or not finite.size:
        return Distribution(not_finite=bad)
    low, high = scale.low, scale.high
    if high <= low:
        room = abs(low) * 0.1 or 0.5
        low, high = low - room, high + room
    counts = np.histogram(finite.astype(np.float64), BINS, (low, high))[0]
    return Distribution(Range(low, high), tuple(map(int, counts)), bad)


def change_of(differences: Array, before: Array) -> float:
    """The norm of the differences divided by that of the weights before; NaN where it is not a number."""
    norm = float(np.linalg.norm(before.astype(np.float64)))
    moved = float(np.linalg.norm(differences.astype(np.float64)))
    return moved / norm if norm > 0 and math.isfinite(moved) else math.nan


def weight_view(
    layer: str,
    values: Array,
    step: int,
    before: tuple[int, Array] | None,
    scale: Range,
) -> WeightView:
    """What is shown of a layer's values at ``step``; ``before`` has the step and values of the checkpoint
    before it, of the same shape."""
    planes, total, stride = planes_of(values)
    differences, differing, change = _none(), Distribution(), math.nan
    difference_scale = Range()
    if before is not None:
        moved = difference_of(values, before[1])
        differences, difference_scale = planes_of(moved)[0], range_of(moved)
        differing = distribution_of(moved, difference_scale)
        change = change_of(moved, before[1])
    return WeightView(
        layer,
        tuple(values.shape),
        step,
        -1 if before is None else before[0],
        planes,
        differences,
        total,
        stride,
        scale,
        difference_scale,
        distribution_of(values, scale),
        differing,
        change,
    )
