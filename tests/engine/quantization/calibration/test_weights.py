"""Weights: thresholds of the whole tensor and of channels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, NotFiniteError
from engine.quantization.calibration import weight_thresholds

WEIGHT = (np.random.default_rng(0).standard_normal((5, 4, 3, 3)) ** 3).astype(np.float32)


def test_abs_max() -> None:
    assert weight_thresholds(WEIGHT, 0, 8, "abs_max").tolist() == [float(np.abs(WEIGHT).max())]
    for axis in (0, 1, -1):
        along = weight_thresholds(WEIGHT, axis)
        assert along.dtype == np.float32
        others = tuple(i for i in range(4) if i != axis % 4)
        np.testing.assert_array_equal(along, np.abs(WEIGHT).max(axis=others))


def error(weight: np.ndarray, threshold: float, bits: int) -> float:
    highest = 2 ** (bits - 1) - 1
    integers = np.clip(np.round(weight / threshold * highest), -highest - 1, highest)
    return float(((weight - integers * threshold / highest) ** 2).mean())


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_mse(bits: int) -> None:
    for channel, threshold in enumerate(weight_thresholds(WEIGHT, 0, bits, "channel_wise_mse")):
        peak = float(np.abs(WEIGHT[channel]).max())
        least = min(error(WEIGHT[channel], (0.3 + 0.02 * i) * peak, bits) for i in range(35))
        assert error(WEIGHT[channel], float(threshold), bits) == pytest.approx(least, rel=1e-4)
    (whole,) = weight_thresholds(WEIGHT, None, bits, "mse")
    least = min(error(WEIGHT, (0.3 + 0.02 * i) * float(np.abs(WEIGHT).max()), bits) for i in range(35))
    assert error(WEIGHT, float(whole), bits) == pytest.approx(least, rel=1e-4)


def test_zeros() -> None:
    for kind in ("abs_max", "channel_wise_abs_max", "mse", "channel_wise_mse"):
        assert not weight_thresholds(np.zeros((3, 2), np.float32), 0, 8, kind).any()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0, 8, "median"), "'median'"),
        ((None, 8, "channel_wise_abs_max"), "no axis None"),
        ((4, 8, "channel_wise_abs_max"), "no axis 4"),
        ((0, 17, "mse"), "17 bits"),
    ],
)
def test_wrong_arguments(arguments: Any, says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        weight_thresholds(WEIGHT, *arguments)


def test_nan() -> None:
    with pytest.raises(NotFiniteError, match="1 of 2 values"):
        weight_thresholds(np.array([1.0, np.nan]), 0)
