"""Odd arguments whose results were recorded with Paddle 2.6.2: integers, no dtype, NaN."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.nn import functional as F


def test_negating_uint8_wraps_around():
    x = paddle.to_tensor(np.array([0, 1, 2, 255], np.uint8))
    for y in (-x, paddle.neg(x)):
        assert y.dtype is paddle.uint8
        assert y.tolist() == [0, 255, 254, 1]


@pytest.mark.parametrize("x", [[1.0, 2.0], [1, 2]])
def test_no_dtype_is_float64(x):
    x = paddle.to_tensor(x)
    for y in (paddle.cast(x, None), x.cast(None), x.astype(None)):
        assert y.dtype is paddle.float64
        assert y.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_mse_loss_of_integers(dtype):
    x, y = paddle.to_tensor([1, 0, 1, 5], dtype), paddle.to_tensor([0, 1, 1, 2], dtype)
    mean, total = F.mse_loss(x, y), F.mse_loss(x, y, "sum")
    assert (mean.dtype.name, mean.item()) == (dtype, 2)  # 11 / 4, cut off
    assert (total.dtype.name, total.item()) == ("int64", 11)
    assert F.mse_loss(x, y, "none").tolist() == [1, 1, 0, 9]


def test_thresholded_relu_of_nan_is_nan():
    y = F.thresholded_relu(paddle.to_tensor([np.nan, 1.0, 1.5]))
    np.testing.assert_array_equal(y.numpy(), np.array([np.nan, 0.0, 1.5], np.float32))


def test_relu_of_nan_stays_nan():
    """Decision 0033: Paddle's CPU gives 0, so that a training that diverged has a finite loss."""
    x = paddle.to_tensor([np.nan, -1.0, 0.0, 2.0])
    np.testing.assert_array_equal(F.relu(x).numpy(), np.array([np.nan, 0.0, 0.0, 2.0], np.float32))
