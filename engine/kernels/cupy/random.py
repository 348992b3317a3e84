"""Random operators in one launch each: numbers, and a dropout's mask and product."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from engine.core.random.generator import draws_of
from engine.core.values.bfloat import is_bfloat16, narrow, widen
from engine.core.values.dtype import as_dtype
from engine.kernels.cupy.defaults import default
from engine.kernels.cupy.draws import GPUDraws
from engine.kernels.cupy.source import FLOATING


def _stream(key: Any, seed: int, dtype: Any) -> GPUDraws | None:
    """The stream for numbers of a dtype; None if the GPU does not generate them."""
    if np.dtype(dtype).name not in FLOATING:
        return None
    with draws_of(key, seed) as draws:
        return draws if isinstance(draws, GPUDraws) else None


def _width(dtype: Any, low: float, high: float) -> tuple[Any, Any]:
    """The lower limit as the default kernel has it, in float32, and how far the upper one is."""
    kind = np.float64 if dtype == np.float64 else np.float32
    first, last = kind(np.float32(low)), kind(np.float32(high))
    return first, last - first


def uniform(
    xp: Any,
    dims: Any = None,
    *,
    shape: Any,
    dtype: str = "float32",
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
    key: Any,
) -> Any:
    kind = as_dtype(dtype).np
    draws = None if dims else _stream(key, seed, kind)
    if draws is None:
        return default("uniform_random")(
            xp, dims, shape=shape, dtype=dtype, min=min, max=max, seed=seed, key=key
        )
    return draws.uniform_between(tuple(shape), kind, *_width(kind, min, max))


def gaussian(
    xp: Any,
    dims: Any = None,
    *,
    shape: Any,
    dtype: str = "float32",
    mean: float = 0.0,
    std: float = 1.0,
    seed: int = 0,
    key: Any,
) -> Any:
    kind = as_dtype(dtype).np
    draws = None if dims else _stream(key, seed, kind)
    if draws is None:
        return default("gaussian_random")(
            xp, dims, shape=shape, dtype=dtype, mean=mean, std=std, seed=seed, key=key
        )
    return draws.normal_around(tuple(shape), kind, np.float32(mean), np.float32(std))


def uniform_like(xp: Any, x: Any, *, min: float = -1.0, max: float = 1.0, seed: int = 0, key: Any) -> Any:
    draws = _stream(key, seed, x.dtype)
    if draws is None:
        return default("uniform_random_inplace")(xp, x, min=min, max=max, seed=seed, key=key)
    return draws.uniform_between(x.shape, x.dtype, *_width(x.dtype, min, max))


def gaussian_like(xp: Any, x: Any, *, mean: float = 0.0, std: float = 1.0, seed: int = 0, key: Any) -> Any:
    draws = _stream(key, seed, x.dtype)
    if draws is None:
        return default("gaussian_inplace")(xp, x, mean=mean, std=std, seed=seed, key=key)
    return draws.normal_around(x.shape, x.dtype, np.float32(mean), np.float32(std))


def dropout(
    xp: Any,
    x: Any,
    *,
    dropout_prob: float = 0.5,
    is_test: bool = False,
    dropout_implementation: str = "upscale_in_train",
    axis: Any = None,
    seed: int = 0,
    key: Any,
) -> Any:
    modes = ("upscale_in_train", "downgrade_in_infer")
    whole = axis is None and not is_test and 0 <= dropout_prob < 1 and dropout_implementation in modes
    draws = _stream(key, seed, x.dtype) if whole else None
    low = is_bfloat16(x)
    if draws is None:
        made = default("dropout")(
            xp,
            widen(xp, x) if low else x,
            dropout_prob=dropout_prob,
            is_test=is_test,
            dropout_implementation=dropout_implementation,
            axis=axis,
            seed=seed,
            key=key,
        )
        return tuple([narrow(xp, each) for each in made]) if low else made
    keep = np.float32(1) - np.float32(dropout_prob)
    upscale = dropout_implementation == "upscale_in_train" and bool(keep)
    one = np.float32 if low else x.dtype.type
    share, factor = (one(keep), one(1 / keep)) if upscale else (one(1), one(1))
    return draws.dropout(cupy.ascontiguousarray(x), dropout_prob, share, factor)
