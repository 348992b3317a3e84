"""Gradient clips and weight decay terms against NumPy in float64."""

from __future__ import annotations

import numpy as np
import pytest

from engine import nn
from engine.core.errors import ArgumentError
from engine.nn.regularizer import L1Decay, L2Decay
from engine.tensor import to_tensor

GRADIENTS = [np.array([[3.0, -4.0]]), np.array([12.0]), np.array(0.5)]


def pairs():
    owner = nn.Layer()
    return [(owner.create_parameter(g.shape, dtype="float64"), to_tensor(g)) for g in GRADIENTS]


def values(result) -> list[np.ndarray]:
    return [g.numpy() for _, g in result]


def test_by_value() -> None:
    result = values(nn.ClipGradByValue(3.5)(pairs()))
    assert [r.tolist() for r in result] == [[[3.0, -3.5]], [3.5], 0.5]
    result = values(nn.ClipGradByValue(max=5.0, min=-1.0)(pairs()))
    assert [r.tolist() for r in result] == [[[3.0, -1.0]], [5.0], 0.5]
    with pytest.raises(ArgumentError, match="max must be positive"):
        nn.ClipGradByValue(-1.0)


def test_by_norm() -> None:
    first, second, third = values(nn.ClipGradByNorm(2.0)(pairs()))
    np.testing.assert_allclose(first, [[3.0 * 2 / 5, -4.0 * 2 / 5]])
    np.testing.assert_allclose(second, [2.0])
    assert third == 0.5


def test_by_global_norm() -> None:
    norm = np.sqrt(25 + 144 + 0.25)
    for got, gradient in zip(values(nn.ClipGradByGlobalNorm(2.0)(pairs())), GRADIENTS, strict=True):
        np.testing.assert_allclose(got, gradient * 2.0 / norm)
    for got, gradient in zip(values(nn.ClipGradByGlobalNorm(20.0)(pairs())), GRADIENTS, strict=True):
        np.testing.assert_array_equal(got, gradient)
    assert nn.ClipGradByGlobalNorm(1.0)([]) == []


def test_need_clip_and_missing_gradients() -> None:
    given = pairs()
    given[1][0].need_clip = False
    given.append((given[0][0], None))
    result = nn.ClipGradByGlobalNorm(1.0)(given)
    assert [p for p, _ in result] == [p for p, _ in given[:3]]
    assert result[1][1] is given[1][1]
    np.testing.assert_allclose(result[0][1].numpy(), GRADIENTS[0] / np.sqrt(25.25))


def test_mixed_dtypes_share_one_factor() -> None:
    half = to_tensor(np.full(4, 300.0, "float16"))  # its sum of squares is beyond float16
    single = to_tensor(np.full(4, 400.0, "float32"))
    result = values(nn.ClipGradByGlobalNorm(10.0)([(None, half), (None, single)]))
    assert result[0].dtype == np.float16
    np.testing.assert_allclose(result[0], 3.0, rtol=1e-3)
    np.testing.assert_allclose(result[1], 4.0, rtol=1e-6)


def test_terms_and_text() -> None:
    x = to_tensor(np.array([2.0, -3.0, 0.0]))
    assert L2Decay(0.5)(x).numpy().tolist() == [1.0, -1.5, 0.0]
    assert L1Decay(0.5)(x).numpy().tolist() == [0.5, -0.5, 0.0]
    # As PaddlePaddle 2.6.2 prints them.
    assert str(L1Decay(0.1)) == "L1Decay, coeff=0.100000"
    assert str(nn.ClipGradByValue(1.0)) == "Clip Gradient By Value, min = -1.000000, max=1.000000"
    assert str(nn.ClipGradByNorm(1.0)) == "Gradient Clip By Norm, clip_norm=1.000000"
    assert str(nn.ClipGradByGlobalNorm(1.0)) == "Gradient Clip By GlobalNorm, global_norm=1.000000"
    with pytest.raises(ArgumentError, match="coeff is a number"):
        L2Decay("small")
