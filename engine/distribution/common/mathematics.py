"""Functions that several distributions need, and draws that their samples are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.core.errors import ShapeError
from engine.core.strictness import tolerate
from engine.nn.functional.activation import log_sigmoid
from engine.tensor.creation import ones_like
from engine.tensor.elementwise.exponential import log
from engine.tensor.elementwise.special import digamma, lgamma
from engine.tensor.math import clip
from engine.tensor.random import uniform
from engine.tensor.reductions.reduction import sum as total
from engine.tensor.search import where
from engine.tensor.tensor_like import AnyTensor

HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
EULER = 0.57721566490153286060


def softplus(x: AnyTensor) -> Any:
    """log(1 + exp(x)), without overflow."""
    return -log_sigmoid(-x)


def times_log(x: AnyTensor, y: AnyTensor) -> Any:
    """x log(y), and 0 where x is 0."""
    none = (x == 0) & (y == y)
    return where(none, x * 0.0, x * log(where(none, ones_like(y), y)))


def open_uniform(shape: list[Any], dtype: str) -> Any:
    """Evenly distributed over (0, 1) without its ends, where logarithms are infinite."""
    limits = np.finfo(dtype)
    return clip(uniform(shape, dtype, 0.0, 1.0), float(limits.tiny), 1.0 - float(limits.epsneg))


def sum_rightmost(x: AnyTensor, count: int) -> Any:
    """``x`` summed over its last ``count`` dimensions.

    A value that has fewer is summed over those it has, as in Paddle, with a warning: terms of the missing
    dimensions are missing.
    """
    if count > x.ndim:
        tolerate(
            ShapeError(
                f"distribution: a change of volume of shape {list(x.shape)} is summed over {count} "
                "dimensions, and counts once for those that it lacks, as in Paddle; give the transform "
                "parameters of the event's shape"
            )
        )
    count = min(count, x.ndim)
    return total(x, axis=list(range(-count, 0))) if count > 0 else x


def log_beta(x: AnyTensor) -> Any:
    """The logarithm of the multivariate beta function of the last axis."""
    return total(lgamma(x), axis=-1) - lgamma(total(x, axis=-1))


def dirichlet_divergence(p: AnyTensor, q: AnyTensor) -> Any:
    """KL(p || q) of two Dirichlet distributions with the concentrations p and q along the last axis."""
    mean_of_log = digamma(p) - digamma(total(p, axis=-1, keepdim=True))
    return log_beta(q) - log_beta(p) + total((p - q) * mean_of_log, axis=-1)
