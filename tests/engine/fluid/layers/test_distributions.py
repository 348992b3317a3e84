"""Distributions of fluid.layers against their formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import DTypeError
from engine.fluid import layers
from engine.fluid.dygraph import to_variable
from tests.engine.fresh_static import fresh_static

LOGITS, OTHERS = np.array([[-0.6, 0.6, 1.0]], np.float32), np.array([[-0.8, -0.4, 0.3]], np.float32)


def normal(x: Any, mean: Any, deviation: Any) -> Any:
    return -((x - mean) ** 2) / (2 * deviation**2) - np.log(deviation) - 0.5 * np.log(2 * np.pi)


def checks() -> list[tuple[Any, Any]]:
    """What is computed here, and in NumPy."""
    x = layers.assign(np.array([0.8], np.float32))
    one, other = layers.Normal(0.5, 2.0), layers.Normal([1.0], [3.0])
    low, mixed = layers.Uniform(0.0, 2.0), layers.Normal(np.array([0.1, 0.2], np.float32), [1.0, 2.0])
    p, q = (np.exp(v) / np.exp(v).sum() for v in (LOGITS.astype(float), OTHERS.astype(float)))
    wide = layers.MultivariateNormalDiag([0.3, 0.5], [[0.4, 0.0], [0.0, 0.5]])
    narrow = layers.MultivariateNormalDiag([0.2, 0.4], [[0.3, 0.0], [0.0, 0.4]])
    first, second = layers.Categorical(layers.assign(LOGITS)), layers.Categorical(layers.assign(OTHERS))
    return [
        (one.log_prob(x), [normal(0.8, 0.5, 2.0)]),
        (one.entropy(), [0.5 + 0.5 * np.log(2 * np.pi) + np.log(2.0)]),
        (one.kl_divergence(other), [np.log(3 / 2) + (4 + 0.25) / 18 - 0.5]),
        (mixed.log_prob(x), normal(0.8, np.array([0.1, 0.2]), np.array([1.0, 2.0]))),
        (low.log_prob(x), [np.log(0.5)]),
        (low.entropy(), [np.log(2.0)]),
        (first.entropy(), [[-(p * np.log(p)).sum()]]),
        (first.kl_divergence(second), [[(p * np.log(p / q)).sum()]]),
        (wide.entropy(), [0.5 * (2 * (1 + np.log(2 * np.pi)) + np.log(0.4 * 0.5))]),
        (
            wide.kl_divergence(narrow),
            [0.5 * (0.4 / 0.3 + 0.5 / 0.4 + 0.01 / 0.3 + 0.01 / 0.4 - 2 + np.log(0.12 / 0.2))],
        ),
    ]


def test_formulas_in_a_guard() -> None:
    with fluid.dygraph.guard():
        for found, expected in checks():
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_formulas_in_a_program() -> None:
    with fresh_static():
        rows = checks()
        found = fluid.Executor().run(fetch_list=[value for value, _ in rows])
    for value, (_, expected) in zip(found, rows, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def test_samples() -> None:
    with fluid.dygraph.guard():
        assert layers.Normal(0.0, 1.0).sample([2, 3]).shape == [2, 3]
        drawn = layers.Normal(np.array([5.0, -5.0], np.float32), [0.1, 0.1]).sample([400], seed=3).numpy()
        assert drawn.shape == (400, 2)
        np.testing.assert_allclose(drawn.mean(0), [5, -5], atol=0.05)
        inside = layers.Uniform(to_variable(np.array([1.0], np.float32)), 3.0).sample([300]).numpy()
        assert inside.shape == (300, 1)
        assert 1 <= inside.min() < 1.2 < 2.8 < inside.max() <= 3


def test_other_parameters_are_refused() -> None:
    with pytest.raises(DTypeError, match="has numbers, lists, arrays or Variables"):
        layers.Normal("0", 1.0)
