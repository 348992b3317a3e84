"""The geometric distribution."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError
from engine.distribution.common.arguments import (
    ScalarOrTensor,
    floating,
    sample_shape,
    sizes_of,
    without_gradient,
)
from engine.distribution.common.mathematics import open_uniform, times_log
from engine.distribution.distribution import Distribution
from engine.distribution.kl import register_kl
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.creation import full
from engine.tensor.elementwise.exponential import exp, log, log1p, sqrt
from engine.tensor.math import cast, floor
from engine.tensor.tensor_like import AnyTensor, ShapeLike


class Geometric(Distribution):
    """Distributions of how often an event of probability ``probs`` fails before it happens.

    Raises ArgumentError for a probability outside (0, 1].
    """

    def __init__(self, probs: ScalarOrTensor) -> None:
        self.probs: Any = _tensor_of(probs)
        if not modes.is_symbolic(self.probs):
            array = self.probs.numpy()
            if not ((array > 0) & (array <= 1)).all():
                raise ArgumentError(
                    "Geometric: probs holds probabilities above 0, up to 1: got "
                    f"{array.min()} to {array.max()}"
                )
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Any:
        """1 / probs - 1."""
        return 1.0 / self.probs - 1.0

    @property
    def variance(self) -> Any:
        """(1 - probs) / probs squared."""
        return (1.0 / self.probs - 1.0) / self.probs

    @property
    def stddev(self) -> Any:
        """The square root of the variance."""
        return sqrt(self.variance)

    def sample(self, shape: ShapeLike = ()) -> Any:
        """Draws of shape ``shape + batch_shape``."""
        return without_gradient(self.rsample, shape)

    def rsample(self, shape: ShapeLike = ()) -> Any:
        """Draws of shape ``shape + batch_shape``; integers, so that their gradient is 0."""
        probs = floating(self.probs)
        sizes = sample_shape("Geometric.sample", shape) + sizes_of(probs)
        return floor(log(open_uniform(sizes, probs.dtype.name)) / log1p(-probs))

    def entropy(self) -> Any:
        """The entropy of each distribution, in nats."""
        probs = floating(self.probs)
        return -(times_log(probs, probs) + times_log(1.0 - probs, 1.0 - probs)) / probs

    def pmf(self, k: int | np.integer[Any] | AnyTensor) -> Any:
        """The probability of ``k``, an integer or a tensor."""
        return exp(self.log_pmf(k))

    def log_pmf(self, k: int | np.integer[Any] | AnyTensor) -> Any:
        """The logarithm of the probability of ``k``, an integer or a tensor."""
        probs = floating(self.probs)
        return times_log(self._count("log_pmf", k), 1.0 - probs) + log(probs)

    def cdf(self, k: int | np.integer[Any] | AnyTensor) -> Any:
        """The probability of at most ``k``, an integer or a tensor."""
        probs = floating(self.probs)
        return 1.0 - exp(times_log(self._count("cdf", k) + 1.0, 1.0 - probs))

    def _count(self, where: str, k: Any) -> Any:
        dtype = floating(self.probs).dtype.name
        if is_tensor(k):
            return k if k.dtype.is_floating_point else cast(k, dtype)
        if isinstance(k, Integral):
            return full([], int(k), dtype=dtype)
        raise DTypeError(
            f"Geometric.{where}: k is neither an integer nor a Tensor: got {type(k).__name__} {k!r}"
        )


def _tensor_of(probs: Any) -> Any:
    if is_tensor(probs):
        return probs
    if not isinstance(probs, Real):
        raise DTypeError(f"Geometric: probs is neither a number nor a Tensor: got {type(probs).__name__}")
    return full([], float(probs), dtype="float32")


@register_kl(Geometric, Geometric)
def _kl(p: Geometric, q: Geometric) -> Any:
    # As in Paddle that of one trial; divided by p.probs it is the divergence of the numbers of failures.
    a, b = floating(p.probs), floating(q.probs)
    return times_log(a, a / b) + times_log(1.0 - a, (1.0 - a) / (1.0 - b))
