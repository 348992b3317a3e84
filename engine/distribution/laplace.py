"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

from engine.distribution.common.arguments import (
    ScalarOrTensor,
    floating,
    sample_shape,
    scalars_or_tensors,
    sizes_of,
    value_like,
    without_gradient,
)
from engine.distribution.common.mathematics import open_uniform
from engine.distribution.distribution import Distribution
from engine.distribution.kl import register_kl
from engine.tensor.elementwise.exponential import exp, expm1, log, log1p
from engine.tensor.math import abs as absolute
from engine.tensor.math import sign
from engine.tensor.tensor_like import ShapeLike, TensorLike


class Laplace(Distribution):
    """Laplace distributions with the mean ``loc`` and the mean distance from it ``scale``."""

    def __init__(self, loc: ScalarOrTensor, scale: ScalarOrTensor) -> None:
        self.loc, self.scale = scalars_or_tensors("Laplace", loc=loc, scale=scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        """``loc``."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """sqrt(2) scale."""
        return math.sqrt(2.0) * self.scale

    @property
    def variance(self) -> Any:
        """2 scale squared."""
        return 2.0 * self.scale * self.scale

    def sample(self, shape: ShapeLike = ()) -> Any:
        """Draws of shape ``shape + batch_shape``."""
        return without_gradient(self.rsample, shape)

    def rsample(self, shape: ShapeLike) -> Any:  # type: ignore[override]  # Paddle's has no default shape
        """Draws as a differentiable function of ``loc`` and ``scale``."""
        loc = floating(self.loc)
        sizes = sample_shape("Laplace.sample", shape) + sizes_of(loc)
        return self.icdf(open_uniform(sizes, loc.dtype.name))

    def entropy(self) -> Any:
        """1 + log(2 scale)."""
        return 1.0 + math.log(2.0) + log(floating(self.scale))

    def log_prob(self, value: TensorLike) -> Any:
        """The logarithm of the density at ``value``, a tensor or number."""
        far = self._far("Laplace.log_prob", value)
        return -math.log(2.0) - log(floating(self.scale)) - absolute(far)

    def cdf(self, value: TensorLike) -> Any:
        """The probability of at most ``value``, a tensor or number."""
        far = self._far("Laplace.cdf", value)
        return 0.5 - 0.5 * sign(far) * expm1(-absolute(far))

    def icdf(self, value: TensorLike) -> Any:
        """The value that a draw exceeds with probability 1 - ``value``, a tensor or number from 0 to 1."""
        middle = value_like("Laplace.icdf", value, self.loc, numbers=True) - 0.5
        return self.loc - self.scale * sign(middle) * log1p(-2.0 * absolute(middle))

    def _far(self, where: str, value: Any) -> Any:
        return (value_like(where, value, self.loc, numbers=True) - self.loc) / self.scale


@register_kl(Laplace, Laplace)
def _kl(p: Laplace, q: Laplace) -> Any:
    far, ratio = absolute(p.loc - q.loc), p.scale / q.scale
    return ratio * exp(-far / p.scale) + far / q.scale - log(ratio) - 1.0
