"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ArgumentError
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
from engine.tensor.elementwise.exponential import log, log1p
from engine.tensor.elementwise.trigonometry import atan, tan
from engine.tensor.tensor_like import AnyTensor, ShapeLike


class Cauchy(Distribution):
    """Cauchy distributions with the median ``loc`` and the half width at half maximum ``scale``."""

    def __init__(self, loc: ScalarOrTensor, scale: ScalarOrTensor, name: str | None = None) -> None:
        self.loc, self.scale = scalars_or_tensors("Cauchy", loc=loc, scale=scale)
        self.name = "Cauchy" if name is None else name
        self.dtype = self.loc.dtype
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        """There is none: raises ArgumentError."""
        raise self._divergent("mean")

    @property
    def variance(self) -> Any:
        """There is none: raises ArgumentError."""
        raise self._divergent("variance")

    @property
    def stddev(self) -> Any:
        """There is none: raises ArgumentError."""
        raise self._divergent("stddev")

    def _divergent(self, what: str) -> ArgumentError:
        return ArgumentError(f"Cauchy: the {what} of a Cauchy distribution is not defined")

    def sample(self, shape: ShapeLike, name: str | None = None) -> Any:  # type: ignore[override]  # Paddle's has no default shape
        """Draws of shape ``shape + batch_shape``."""
        return without_gradient(self.rsample, shape)

    def rsample(self, shape: ShapeLike, name: str | None = None) -> Any:  # type: ignore[override]  # Paddle's has no default shape
        """Draws as a differentiable function of ``loc`` and ``scale``."""
        loc = floating(self.loc)
        sizes = sample_shape("Cauchy.sample", shape) + sizes_of(loc)
        return loc + self.scale * tan(math.pi * (open_uniform(sizes, loc.dtype.name) - 0.5))

    def entropy(self) -> Any:
        """log(4 pi scale)."""
        return log(floating(self.scale)) + math.log(4.0 * math.pi) + self.loc * 0.0

    def log_prob(self, value: AnyTensor) -> Any:
        """The logarithm of the density at ``value``."""
        far = self._far("Cauchy.log_prob", value)
        return -math.log(math.pi) - log(floating(self.scale)) - log1p(far * far)

    def cdf(self, value: AnyTensor) -> Any:
        """The probability of at most ``value``."""
        return atan(self._far("Cauchy.cdf", value)) / math.pi + 0.5

    def _far(self, where: str, value: Any) -> Any:
        return (value_like(where, value, self.loc) - self.loc) / self.scale


@register_kl(Cauchy, Cauchy)
def _kl(p: Cauchy, q: Cauchy) -> Any:
    # Chyzak, Nielsen, A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions
    scales, locs = p.scale + q.scale, p.loc - q.loc
    return log((scales * scales + locs * locs) / (4.0 * p.scale * q.scale))
