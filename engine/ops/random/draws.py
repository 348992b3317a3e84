"""Random operators that draw one number for each element: uniform, normal, integers and others.

Bit for bit the numbers of Paddle 2.6.2 on the CPU: attributes are float32 there, and the arithmetic is that
of the result's dtype (float32 for float16).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, OutOfRangeError
from engine.core.operators.bounds import Number, Reserved, Size
from engine.core.operators.infer import floating_as_x, require_floating
from engine.core.operators.opdef import op
from engine.core.random.generator import Key, draws_of, host_draws_of
from engine.core.random.logf import logf
from engine.core.values.dtype import as_dtype
from engine.core.values.spec import Spec
from engine.ops.arrays.creation import sizes
from engine.ops.random.quantile import truncated_normal

Array = Any


def _of_shape(dims: Any = None, *, shape: Any, dtype: str, **_: Any) -> Spec:
    return Spec(shape, dtype)


_SLOTS = {"dims": "ShapeTensorList"}  # the sizes that are -1 in ``shape``, as tensors


def _numbers(dtype: Any, *values: float) -> tuple[Any, ...]:
    """Attributes as the kernels have them: rounded to float32, then in the dtype that is computed in."""
    kind = np.float64 if dtype == np.float64 else np.float32
    return tuple(kind(np.float32(value)) for value in values)


def _uniform(
    key: Key, seed: int, shape: Any, dtype: Any, low: float, high: float, drawn_by: Any = draws_of
) -> Array:
    first, last = _numbers(dtype, low, high)
    with drawn_by(key, seed) as draws:
        drawn = draws.uniform(shape, first.dtype)
    drawn *= last - first
    drawn += first
    return drawn


def _normal(key: Key, seed: int, shape: Any, dtype: Any, mean: float, std: float) -> Array:
    center, spread = _numbers(dtype, mean, std)
    with draws_of(key, seed) as draws:
        drawn = draws.normal(shape, center.dtype)
    drawn *= spread
    drawn += center
    return drawn


@op("uniform_random", infer=_of_shape, slots=_SLOTS)
def uniform(
    xp, dims: list | None = None, *, shape: Size, dtype="float32", min=-1.0, max=1.0, seed: Number = 0, key
):
    """Evenly distributed over [min, max)."""
    kind = as_dtype(dtype).np
    return xp.asarray(_uniform(key, seed, sizes(shape, dims), kind, min, max), dtype=kind)


@op("gaussian_random", infer=_of_shape, slots=_SLOTS)
def gaussian(
    xp, dims: list | None = None, *, shape: Size, dtype="float32", mean=0.0, std=1.0, seed: Number = 0, key
):
    """Normally distributed."""
    kind = as_dtype(dtype).np
    return xp.asarray(_normal(key, seed, sizes(shape, dims), kind, mean, std), dtype=kind)


@op("truncated_gaussian_random", infer=_of_shape)
def truncated_gaussian(xp, *, shape: Size, dtype="float32", mean=0.0, std=1.0, seed: Number = 0, key):
    """Normally distributed within two standard deviations."""
    kind = as_dtype(dtype).np
    center, spread = _numbers(kind, mean, std)
    tiny = float(np.finfo(np.float32).tiny)
    drawn = _uniform(key, seed, tuple(shape), kind, tiny, 1.0, host_draws_of)
    return xp.asarray(truncated_normal(drawn, center, spread), dtype=kind)


@op("randint", infer=_of_shape, slots=_SLOTS)
def randint(
    xp,
    dims: list | None = None,
    *,
    low: Number,
    high: Number,
    shape: Size,
    dtype="int64",
    seed: Number = 0,
    key,
):
    """Integers from low, below high."""
    with draws_of(key, seed) as draws:
        drawn = draws.integers(low, high, sizes(shape, dims))
    return xp.asarray(drawn, dtype=as_dtype(dtype).np)


def _infer_permutation(*, n: int, dtype: str, **_: Any) -> Spec:
    if n < 0:
        raise ArgumentError(f"randperm: n must not be negative: got {n}")
    return Spec((n,), dtype)


@op("randperm", infer=_infer_permutation)
def randperm(xp, *, n: Reserved, dtype="int64", seed: Number = 0, key):
    """The numbers 0 to n-1 in random order."""
    _infer_permutation(n=n, dtype=dtype)
    with draws_of(key, seed) as draws:
        return xp.asarray(draws.permutation(n), dtype=as_dtype(dtype).np)


def _require_floating(x: Any) -> None:
    if x.dtype.kind != "f":
        raise TypeError("not floating")  # inference explains the error


@op("uniform_random_inplace", infer=floating_as_x("uniform_"))
def uniform_like(xp, x, *, min=-1.0, max=1.0, seed: Number = 0, key):
    """Evenly distributed over [min, max), in the shape and dtype of x."""
    _require_floating(x)
    return xp.asarray(_uniform(key, seed, x.shape, x.dtype, min, max), dtype=x.dtype)


@op("gaussian_inplace", infer=floating_as_x("normal_"))
def gaussian_like(xp, x, *, mean=0.0, std=1.0, seed: Number = 0, key):
    """Normally distributed, in the shape and dtype of x."""
    _require_floating(x)
    return xp.asarray(_normal(key, seed, x.shape, x.dtype, mean, std), dtype=x.dtype)


def _infer_exponential(x: Spec, *, lam: float = 1.0) -> Spec:
    require_floating("exponential_", x=x)
    if lam <= 0:
        raise ArgumentError(f"exponential_: lam is the rate, above 0: got {lam}")
    return x


@op("exponential", infer=_infer_exponential)
def exponential_like(xp, x, *, lam=1.0, key):
    """Exponentially distributed with rate ``lam``, in the shape and dtype of x."""
    _require_floating(x)
    if lam <= 0:
        raise ValueError("not above 0")  # inference explains the error
    (rate,) = _numbers(x.dtype, lam)
    with draws_of(key) as draws:
        drawn = 1 - draws.uniform(x.shape, rate.dtype)
    return xp.asarray(-1 / rate * _logarithms(xp, drawn), dtype=x.dtype)


def _logarithms(xp: Any, x: Array) -> Array:
    """Natural logarithms; of NumPy's arrays those of the C library."""
    if not isinstance(x, np.ndarray):
        return xp.log(x)
    if x.dtype == np.float32:
        return logf(x)
    return np.fromiter(map(math.log, x.reshape(-1).tolist()), np.float64, x.size).reshape(x.shape)


@op("bernoulli", infer=floating_as_x("bernoulli"))
def bernoulli(xp, x, *, key):
    """1 with the probability that x gives each element, else 0."""
    _require_floating(x)
    # A GPU would be waited for: there any other number counts as the nearest probability.
    if xp is np and x.size and not bool(((x >= 0) & (x <= 1)).all()):
        raise OutOfRangeError(
            f"bernoulli: x holds probabilities, 0 to 1: got {float(x.min())} to {float(x.max())}"
        )
    with draws_of(key) as draws:
        return (xp.asarray(draws.uniform(x.shape, x.dtype)) <= x).astype(x.dtype)
