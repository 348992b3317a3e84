"""Bias correction: means and deviations come back, and the values stay integers."""

from __future__ import annotations

import numpy as np
import pytest

from engine.quantization.calibration import bias_correction, weight_thresholds
from engine.quantization.calibration.weights import by_channel

WEIGHT = np.random.default_rng(0).gamma(0.7, size=(4, 3, 5, 5)).astype(np.float32) - 0.1


def quantized(weight: np.ndarray, axis: int | None, bits: int) -> tuple[np.ndarray, np.ndarray]:
    highest = 2 ** (bits - 1) - 1
    kind = "abs_max" if axis is None else "channel_wise_abs_max"
    thresholds = weight_thresholds(weight, axis, bits, kind)
    along = thresholds.reshape([-1 if i == axis else 1 for i in range(weight.ndim)])
    return np.rint(weight / along * highest).astype(np.int8), thresholds


@pytest.mark.parametrize("bits", [3, 4, 8])
@pytest.mark.parametrize("axis", [0, 1, 3, None])
def test_mean_and_deviation_come_back(axis: int | None, bits: int) -> None:
    integers, thresholds = quantized(WEIGHT, axis, bits)
    corrected, stretched = bias_correction(WEIGHT, integers, thresholds, axis, bits)
    assert (corrected.dtype, corrected.shape) == (np.int8, WEIGHT.shape)
    assert (stretched.dtype, stretched.shape) == (np.float32, thresholds.shape)
    highest = 2 ** (bits - 1) - 1
    assert corrected.max() <= highest
    assert np.abs(corrected.astype(int) - integers).max() <= 1  # rounded the other way at most

    rows = by_channel(WEIGHT, axis).astype(np.float64)
    steps = (stretched / highest).reshape(-1, 1)
    back = by_channel(corrected, axis) * steps
    # The mean to half a step of one value of the channel, the deviation up to what that changed.
    assert (np.abs(back.mean(axis=1) - rows.mean(axis=1)) <= 0.51 * steps[:, 0] / rows.shape[1]).all()
    before = by_channel(integers, axis) * (thresholds / highest).reshape(-1, 1)
    assert (
        np.abs(before.mean(axis=1) - rows.mean(axis=1)).max()
        > 2 * np.abs(back.mean(axis=1) - rows.mean(axis=1)).max()
    )
    wrong = np.abs(back.std(axis=1) / rows.std(axis=1) - 1)
    assert wrong.max() < 0.1 / highest


def test_nothing_is_rounded_beyond_the_largest_integer() -> None:
    weight = np.array([[1.0, 0.55, 0.55, 0.55], [-1.0, -0.55, -0.55, 0.0]], np.float32)
    for bits in (2, 3):
        integers, thresholds = quantized(weight, 0, bits)
        corrected, _ = bias_correction(weight, integers, thresholds, 0, bits)
        highest = 2 ** (bits - 1) - 1
        assert -highest - 1 <= corrected.min()
        assert corrected.max() <= highest


def test_zeros_stay() -> None:
    zeros = np.zeros((2, 3), np.float32)
    corrected, thresholds = bias_correction(zeros, zeros.astype(np.int8), np.zeros(2, np.float32), 0)
    assert not corrected.any()
    assert thresholds.tolist() == [0.0, 0.0]
