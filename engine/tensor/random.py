"""Random tensors."""

from __future__ import annotations

from typing import Any

from engine.core.dtype import as_dtype, default_dtype
from engine.ops import random as ops
from engine.tensor.creation import _dims


def _name(dtype: Any) -> str:
    return default_dtype().name if dtype is None else as_dtype(dtype).name


def rand(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Evenly distributed over [0, 1)."""
    return ops.uniform(shape=_dims("rand", shape), dtype=_name(dtype), min=0.0, max=1.0)


def randn(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Normally distributed, mean 0, standard deviation 1."""
    return ops.gaussian(shape=_dims("randn", shape), dtype=_name(dtype))


standard_normal = randn


def normal(mean: float = 0.0, std: float = 1.0, shape: Any = None, name: str | None = None) -> Any:
    """Normally distributed."""
    return ops.gaussian(
        shape=_dims("normal", shape if shape is not None else [1]), dtype=_name(None), mean=mean, std=std
    )


def uniform(
    shape: Any, dtype: Any = None, min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None
) -> Any:
    """Evenly distributed over [min, max)."""
    return ops.uniform(
        shape=_dims("uniform", shape), dtype=_name(dtype), min=float(min), max=float(max), seed=seed
    )


def randint(
    low: int = 0, high: int | None = None, shape: Any = (1,), dtype: Any = None, name: str | None = None
) -> Any:
    """Whole numbers from low, below high (from 0, below low, without high)."""
    if high is None:
        low, high = 0, low
    return ops.randint(
        low=low,
        high=high,
        shape=_dims("randint", shape),
        dtype="int64" if dtype is None else as_dtype(dtype).name,
    )


def randperm(n: int, dtype: Any = "int64", name: str | None = None) -> Any:
    """The numbers 0 to n-1 in random order."""
    return ops.randperm(n=n, dtype=as_dtype(dtype).name)
