"""The thresholds of weights: of the whole tensor or of each channel."""

from __future__ import annotations

import numpy as np

from engine.core.errors import ArgumentError, NotFiniteError
from engine.quantization.calibration.calibrator import Values, floating, levels
from engine.quantization.calibration.searched import SHARES

KINDS = ("abs_max", "channel_wise_abs_max", "mse", "channel_wise_mse")


def weight_thresholds(
    weight: Values, axis: int | None, bits: int = 8, kind: str = "channel_wise_abs_max"
) -> Values:
    """The thresholds of a weight: of shape (channels,) along `axis` for the channel-wise kinds, else (1,).

    ``abs_max`` is the largest absolute value, ``mse`` the share of it (0.30, 0.32, ... 0.98) with the least
    mean squared error after quantizing. Of the weight's dtype. Raises ArgumentError for a kind that is not in
    `KINDS`, an axis that a channel-wise kind lacks, or bits outside 2..16, and NotFiniteError for nan and
    infinity.
    """
    weight = floating(weight)
    if kind not in KINDS:
        raise ArgumentError(
            f"quantization: weights have no thresholds of the kind {kind!r}; choose of {', '.join(KINDS)}"
        )
    if kind.startswith("channel_wise"):
        if axis is None or not -weight.ndim <= axis < weight.ndim:
            raise ArgumentError(
                f"quantization: {kind} of a weight of shape {list(weight.shape)} has no axis {axis}; "
                "give the axis of its output channels, or take abs_max"
            )
        rows = by_channel(weight, axis)
    else:
        rows = by_channel(weight, None)
    if not np.isfinite(rows).all():
        raise NotFiniteError(
            f"quantization: {int((~np.isfinite(rows)).sum())} of {rows.size} values of a weight are nan or "
            "infinite; train it again, or keep its layer in float"
        )
    peaks = np.abs(rows).max(axis=1, initial=0.0)
    return peaks if kind.endswith("abs_max") else _least_squares(rows, peaks, levels(bits))


def by_channel(weight: Values, axis: int | None) -> Values:
    """The weight as a matrix with a row for each channel along `axis`; one row for None."""
    if axis is None:
        return weight.reshape(1, -1)
    return np.moveaxis(weight, axis, 0).reshape(weight.shape[axis], -1)


def _least_squares(rows: Values, peaks: Values, highest: int) -> Values:
    best, found = np.full(len(rows), np.inf), peaks.copy()
    for share in SHARES:
        candidates = (share * peaks).astype(rows.dtype)
        steps = np.where(candidates > 0, candidates, 1)[:, None] / highest
        quantized = np.clip(np.rint(rows / steps), -highest - 1, highest) * steps
        losses = np.square(rows - quantized).mean(axis=1)
        better = losses <= best
        best, found = np.where(better, losses, best), np.where(better, candidates, found)
    return found
