"""Rows of the operators in ``engine/ops/random/sampling.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s
from tests.engine.ops.random.like import SHARES, check_like


def _check_sample(results: Any, label: Any, num_classes: int, num_samples: int) -> None:
    remapped, sampled = results
    np.testing.assert_array_equal(sampled[remapped], label)
    present = np.unique(label)
    np.testing.assert_array_equal(sampled[: len(present)], present)
    assert len(sampled) == len(set(sampled.tolist())) == max(num_samples, len(present))
    assert sampled.min() >= 0
    assert sampled.max() < num_classes


def _check_multinomial(results: Any, x: Any, num_samples: int = 1, replacement: bool = False) -> None:
    (drawn,) = results
    assert drawn.shape == (*x.shape[:-1], num_samples)
    for line, weights in zip(drawn.reshape(-1, num_samples), x.reshape(-1, x.shape[-1]), strict=True):
        assert (weights[line] > 0).all()
        assert replacement or len(set(line.tolist())) == num_samples
        if num_samples > 1000:
            share = np.bincount(line, minlength=len(weights)) / num_samples
            np.testing.assert_allclose(share, weights / weights.sum(), atol=0.03)


def _check_dirichlet(results: Any, alpha: Any) -> None:
    (shares,) = results
    assert shares.shape == alpha.shape
    assert shares.dtype == alpha.dtype
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=-1), 1.0, rtol=1e-5)
    if len(alpha) > 1000:
        whole = alpha.sum(axis=-1, keepdims=True)
        mean = alpha / whole
        np.testing.assert_allclose(shares.mean(axis=0), mean[0], atol=0.02)
        np.testing.assert_allclose(shares.var(axis=0), (mean * (1 - mean) / (whole + 1))[0], atol=0.01)


def _check_top_p(results: Any, x: Any, ps: Any, threshold: Any = None, seed: int = -1) -> None:
    values, ids = results
    assert values.shape == ids.shape == (len(x), 1)
    for line, p, place, value in zip(x, ps.reshape(-1), ids[:, 0], values[:, 0], strict=True):
        assert line[place] == value
        assert line[line > value].sum() < p or place == line.argmax()
    if len(x) > 1000:  # of 0.5, 0.3 and 0.2 only the first two are within 0.7
        assert abs((ids == 0).mean() - 0.625) < 0.05


WEIGHTS = np.array([[1.0, 0.0, 3.0, 4.0], [2.0, 2.0, 1.0, 0.0]])


CASES: list[Case] = [
    *row("class_center_sample", None, s(np.array([3, 7, 3, 9]), num_classes=20, num_samples=6),
         s(np.array([3, 7, 3, 9]), num_classes=20, num_samples=2),
         s(np.array([1]), num_classes=3, num_samples=3),
         s(ints(0), num_classes=3, num_samples=2), check=_check_sample, data=True),
    *row("poisson", None, s(SHARES * 9), s(np.zeros((2, 2))), check=check_like(lambda x: x,
         lambda x: math.sqrt(float(x.mean())), 0.0)),
    *row("multinomial", None, s(WEIGHTS, num_samples=3), s(WEIGHTS[0]), s(WEIGHTS[1], num_samples=3000,
         replacement=True), s(WEIGHTS, num_samples=2000, replacement=True), check=_check_multinomial),
    *row("dirichlet", None, s(np.tile([0.5, 1.5, 3.0], (1500, 1))), s(np.full((1500, 2), 1e-3)),
         s(np.array([2.0])), s(np.ones((0, 3))), check=_check_dirichlet),
    *row("top_p_sampling", None, s(np.tile([0.5, 0.3, 0.2], (2000, 1)), np.full(2000, 0.7), None),
         s(np.array([[0.1, 0.6, 0.3]]), np.array([[0.5]]), None, seed=3),
         s(np.array([[0.1, 0.6, 0.3]]), np.array([1.0]), np.array([0.2])), check=_check_top_p)
]
