"""Rows of the operators in ``engine/ops/random/draws.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.random.like import SHARES, check_like


def _check_uniform(
    results: Any,
    dims: Any,
    shape: Any,
    dtype: str = "float32",
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
) -> None:
    (x,) = results
    assert x.shape == tuple(shape)
    assert x.dtype == dtype
    assert ((x >= min) & (x <= max)).all()
    if x.size > 1000:
        assert abs(x.mean() - (min + max) / 2) < 0.03 * (max - min)
        assert abs(x.std() - (max - min) / math.sqrt(12)) < 0.03 * (max - min)


def _check_gaussian(
    results: Any,
    dims: Any,
    shape: Any,
    dtype: str = "float32",
    mean: float = 0.0,
    std: float = 1.0,
    seed: int = 0,
) -> None:
    (x,) = results
    assert x.shape == tuple(shape)
    assert x.dtype == dtype
    if x.size > 1000:
        assert abs(x.mean() - mean) < 0.06 * std
        assert abs(x.std() - std) < 0.06 * std
        assert 0.63 < (np.abs(x - mean) < std).mean() < 0.73


def _check_truncated(results: Any, shape: Any, mean: float = 0.0, std: float = 1.0, **attrs: Any) -> None:
    (x,) = results
    assert x.shape == tuple(shape)
    assert x.dtype == attrs.get("dtype", "float32")
    assert (np.abs(x - mean) <= 2 * std * (1 + 1e-6)).all()
    if x.size > 1000:  # the variance of the truncated distribution is 0.7737
        assert abs(x.mean() - mean) < 0.06 * std
        assert abs(x.std() - 0.8796 * std) < 0.03 * std


def _check_randint(
    results: Any, dims: Any, low: int, high: int, shape: Any, dtype: str = "int64", seed: int = 0
) -> None:
    (x,) = results
    assert x.shape == tuple(shape)
    assert x.dtype == dtype
    assert set(x.reshape(-1).tolist()) == set(range(low, high))


def _check_randperm(results: Any, n: int, dtype: str = "int64", seed: int = 0) -> None:
    assert sorted(results[0].tolist()) == list(range(n))
    assert results[0].dtype == dtype
    assert n < 10 or results[0].tolist() != list(range(n))


CASES: list[Case] = [
    *row("uniform_random", None, s(None, shape=[40, 50]),
         s(None, shape=[2000], min=2.0, max=5.0, dtype="float64"),
         s(None, shape=[]), s(None, shape=[3], seed=4), check=_check_uniform),
    *row("gaussian_random", None, s(None, shape=[40, 50]),
         s(None, shape=[2000], mean=2.0, std=3.0, dtype="float64"),
         s(None, shape=[0]), check=_check_gaussian),
    *row("truncated_gaussian_random", None, s(shape=[40, 50]), s(shape=[]), s(shape=[3], seed=4),
         s(shape=[2000], mean=2.0, std=3.0, dtype="float64"), check=_check_truncated),
    *row("randint", None, s(None, low=0, high=3, shape=[100]),
         s(None, low=-2, high=2, shape=[10, 10], dtype="int32"),
         check=_check_randint),
    *row("randperm", None, s(n=20), s(n=0), s(n=1, dtype="int32"), check=_check_randperm),
    *row("uniform_random_inplace", None, s(v(2000), min=2.0, max=5.0), s(v(2, 0)), s(v(3), seed=4),
         check=check_like(lambda x, min=-1.0, max=1.0, seed=0: (min + max) / 2,
                           lambda x, min=-1.0, max=1.0, seed=0: (max - min) / math.sqrt(12), -1.0)),
    *row("gaussian_inplace", None, s(v(2000), mean=2.0, std=3.0), s(v()), s(v(3), seed=4),
         check=check_like(lambda x, mean=0.0, std=1.0, seed=0: mean, lambda x, mean=0.0, std=1.0,
         seed=0: std)),
    *row("exponential", None, s(v(4000), lam=2.0), s(v(2, 3)),
         check=check_like(lambda x, lam=1.0: 1 / lam, lambda x, lam=1.0: 1 / lam, 1e-40)),
    *row("bernoulli", None, s(SHARES), s(np.array([0.0, 1.0])), check=check_like(lambda x: x,
         lambda x: math.sqrt(float((x * (1 - x)).mean())), 0.0))
]
