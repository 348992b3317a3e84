"""Random operators: each draw is a function of the key (seed, offset) that the mode hands to the kernel."""

from __future__ import annotations

from typing import Any

from engine.core.dtype import as_dtype
from engine.core.errors import ArgumentError
from engine.core.infer import require_floating
from engine.core.opdef import op
from engine.core.random import numpy_generator
from engine.core.spec import Spec
from engine.ops import math


def _generator(key: Any, seed: int) -> Any:
    """The operator's own seed, where it has one, fixes its numbers."""
    return numpy_generator((seed, 0) if seed else key)


@op("uniform_random", infer=lambda *, shape, dtype, **_: Spec(shape, dtype))
def uniform(xp, *, shape, dtype="float32", min=-1.0, max=1.0, seed=0, key):
    """Evenly distributed over [min, max)."""
    drawn = _generator(key, seed).random(tuple(shape)) * (max - min) + min
    return xp.asarray(drawn, dtype=as_dtype(dtype).np)


@op("gaussian_random", infer=lambda *, shape, dtype, **_: Spec(shape, dtype))
def gaussian(xp, *, shape, dtype="float32", mean=0.0, std=1.0, seed=0, key):
    """Normally distributed."""
    drawn = _generator(key, seed).standard_normal(tuple(shape)) * std + mean
    return xp.asarray(drawn, dtype=as_dtype(dtype).np)


@op("randint", infer=lambda *, shape, dtype, **_: Spec(shape, dtype))
def randint(xp, *, low, high, shape, dtype="int64", seed=0, key):
    """Whole numbers from low, below high."""
    return xp.asarray(_generator(key, seed).integers(low, high, tuple(shape)), dtype=as_dtype(dtype).np)


@op("randperm", infer=lambda *, n, dtype, **_: Spec((n,), dtype))
def randperm(xp, *, n, dtype="int64", seed=0, key):
    """The numbers 0 to n-1 in random order."""
    return xp.asarray(_generator(key, seed).permutation(n), dtype=as_dtype(dtype).np)


def _infer_dropout(
    x: Spec, *, dropout_prob: float, dropout_implementation: str, **_: Any
) -> tuple[Spec, Spec]:
    require_floating("dropout", x=x)
    if not 0 <= dropout_prob <= 1:
        raise ArgumentError(f"dropout: p is the share of elements dropped, 0 to 1: got {dropout_prob}")
    if dropout_implementation not in ("upscale_in_train", "downgrade_in_infer"):
        raise ArgumentError(
            f"dropout: mode {dropout_implementation!r} is none of upscale_in_train, downgrade_in_infer"
        )
    return x, x


@op("dropout", infer=_infer_dropout, outputs=("out", "mask"))
def dropout(
    xp,
    x,
    *,
    dropout_prob=0.5,
    is_test=False,
    dropout_implementation="upscale_in_train",
    axis=None,
    seed=0,
    key,
):
    """Elements set to zero at random; ``mask`` holds the factor of each element.

    ``axis`` names the dimensions along which elements are dropped independently (all by default). In
    training ``upscale_in_train`` divides what stays by 1 - p; ``downgrade_in_infer`` multiplies by 1 - p
    at test time instead.
    """
    if not 0 <= dropout_prob <= 1 or dropout_implementation not in ("upscale_in_train", "downgrade_in_infer"):
        raise ValueError("wrong attributes")  # the mode asks inference to say what is wrong
    upscale = dropout_implementation == "upscale_in_train"
    keep = 1.0 - dropout_prob
    one = x.dtype.type
    if is_test:
        mask = xp.full(x.shape, one(1 if upscale else keep))
    else:
        shape = x.shape if axis is None else tuple(d if n in axis else 1 for n, d in enumerate(x.shape))
        kept = xp.asarray(_generator(key, seed).random(shape) < keep)
        mask = kept.astype(x.dtype) * one((1.0 / keep if keep else 0.0) if upscale else 1.0)
        mask = xp.broadcast_to(mask, x.shape)
    return x * mask, mask


dropout.grad(x=lambda g, mask: math.multiply(g, mask))
