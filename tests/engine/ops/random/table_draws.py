"""Rows of the operators in ``engine/ops/random``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s, v


def _check_dropout(
    results: Any, x: Any, dropout_prob: float = 0.5, is_test: bool = False,
    dropout_implementation: str = "upscale_in_train", axis: Any = None, seed: int = 0,
) -> None:  # fmt: skip
    out, mask = results
    np.testing.assert_allclose(out, x * mask)
    keep = 1 - dropout_prob
    upscale = dropout_implementation == "upscale_in_train"
    if is_test:
        assert (mask == (1.0 if upscale else keep)).all()
        return
    kept = mask[mask != 0]
    np.testing.assert_allclose(kept, (1 / keep if upscale else 1.0) if keep else 1.0)
    if dropout_prob in (0.0, 1.0):
        assert kept.size == x.size * (1 - dropout_prob)
    elif x.size > 1000:
        assert abs(kept.size / x.size - keep) < 0.05
    if axis is not None:
        other = tuple(n for n in range(x.ndim) if n not in axis)
        assert (mask.std(axis=other) == 0).all()


def _check_sample(results: Any, label: Any, num_classes: int, num_samples: int) -> None:
    remapped, sampled = results
    np.testing.assert_array_equal(sampled[remapped], label)
    present = np.unique(label)
    np.testing.assert_array_equal(sampled[: len(present)], present)
    assert len(sampled) == len(set(sampled.tolist())) == max(num_samples, len(present))
    assert sampled.min() >= 0
    assert sampled.max() < num_classes


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


def _check_like(mean: Any, std: Any, low: float = -np.inf) -> Any:
    def check(results: Any, x: Any, **attrs: Any) -> None:
        (made,) = results
        assert made.shape == x.shape
        assert made.dtype == x.dtype
        assert (made >= low).all()
        if made.size > 1000:
            wanted = mean(x, **attrs) * np.ones(x.shape)
            assert abs((made - wanted).mean()) < 0.06 * std(x, **attrs)
            assert abs((made - wanted).std() - std(x, **attrs)) < 0.06 * std(x, **attrs)

    return check


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


SHARES = np.linspace(0.0, 1.0, 2001)


WEIGHTS = np.array([[1.0, 0.0, 3.0, 4.0], [2.0, 2.0, 1.0, 0.0]])


CASES: list[Case] = [
    # -- random numbers
    *row("dropout", None, s(v(40, 50), dropout_prob=0.3), s(v(3), is_test=True),
         s(v(3), is_test=True, dropout_implementation="downgrade_in_infer"),
         s(v(2000), dropout_implementation="downgrade_in_infer"), s(v(40, 5), axis=[0]),
         s(v(3), dropout_prob=0.0), s(v(3), dropout_prob=1.0),
         check=_check_dropout, grads="x", through=(0,)),
    *row("class_center_sample", None, s(np.array([3, 7, 3, 9]), num_classes=20, num_samples=6),
         s(np.array([3, 7, 3, 9]), num_classes=20, num_samples=2),
         s(np.array([1]), num_classes=3, num_samples=3),
         s(ints(0), num_classes=3, num_samples=2), check=_check_sample, data=True),
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
         check=_check_like(lambda x, min=-1.0, max=1.0, seed=0: (min + max) / 2,
                           lambda x, min=-1.0, max=1.0, seed=0: (max - min) / math.sqrt(12), -1.0)),
    *row("gaussian_inplace", None, s(v(2000), mean=2.0, std=3.0), s(v()), s(v(3), seed=4),
         check=_check_like(lambda x, mean=0.0, std=1.0, seed=0: mean, lambda x, mean=0.0, std=1.0,
         seed=0: std)),
    *row("exponential", None, s(v(4000), lam=2.0), s(v(2, 3)),
         check=_check_like(lambda x, lam=1.0: 1 / lam, lambda x, lam=1.0: 1 / lam, 1e-40)),
    *row("bernoulli", None, s(SHARES), s(np.array([0.0, 1.0])), check=_check_like(lambda x: x,
         lambda x: math.sqrt(float((x * (1 - x)).mean())), 0.0)),
    *row("poisson", None, s(SHARES * 9), s(np.zeros((2, 2))), check=_check_like(lambda x: x,
         lambda x: math.sqrt(float(x.mean())), 0.0)),
    *row("multinomial", None, s(WEIGHTS, num_samples=3), s(WEIGHTS[0]), s(WEIGHTS[1], num_samples=3000,
         replacement=True), s(WEIGHTS, num_samples=2000, replacement=True), check=_check_multinomial),
    *row("dirichlet", None, s(np.tile([0.5, 1.5, 3.0], (4000, 1))), s(np.full((4000, 2), 1e-3)),
         s(np.array([2.0])), s(np.ones((0, 3))), check=_check_dirichlet),
    *row("top_p_sampling", None, s(np.tile([0.5, 0.3, 0.2], (2000, 1)), np.full(2000, 0.7), None),
         s(np.array([[0.1, 0.6, 0.3]]), np.array([[0.5]]), None, seed=3),
         s(np.array([[0.1, 0.6, 0.3]]), np.array([1.0]), np.array([0.2])), check=_check_top_p),
]  # fmt: skip
