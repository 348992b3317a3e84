"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError
from engine.distribution.common.arguments import (
    floating,
    sample_shape,
    sizes_of,
    tensor_value,
    without_gradient,
)
from engine.distribution.common.mathematics import dirichlet_divergence, log_beta
from engine.distribution.exponential_family import ExponentialFamily
from engine.distribution.kl import register_kl
from engine.ops.random.sampling import dirichlet
from engine.tensor.elementwise.exponential import log
from engine.tensor.elementwise.special import digamma
from engine.tensor.manipulation import broadcast_to
from engine.tensor.reductions.reduction import sum as total
from engine.tensor.tensor_like import AnyTensor, ShapeLike


class Dirichlet(ExponentialFamily):
    """Distributions over shares that sum to 1, with the ``concentration`` of each along the last axis.

    Raises ShapeError for a concentration of no dimension.
    """

    def __init__(self, concentration: AnyTensor) -> None:
        self.concentration = floating(tensor_value("Dirichlet", concentration))
        if self.concentration.ndim < 1:
            raise ShapeError("Dirichlet: concentration has no dimension; give one number for each share")
        super().__init__(self.concentration.shape[:-1], self.concentration.shape[-1:])

    @property
    def mean(self) -> Any:
        """concentration divided by its sum."""
        return self.concentration / total(self.concentration, axis=-1, keepdim=True)

    @property
    def variance(self) -> Any:
        """mean (1 - mean) / (1 + the sum of concentration)."""
        mean = self.mean
        return mean * (1.0 - mean) / (total(self.concentration, axis=-1, keepdim=True) + 1.0)

    def sample(self, shape: ShapeLike = ()) -> Any:
        """Shares of shape ``shape + batch_shape + event_shape``."""
        sizes = sample_shape("Dirichlet.sample", shape) + sizes_of(self.concentration)
        return without_gradient(lambda: dirichlet(broadcast_to(self.concentration, sizes)))

    def entropy(self) -> Any:
        """The entropy of each distribution, in nats."""
        c = self.concentration
        whole = total(c, axis=-1)
        spread = (whole - float(c.shape[-1])) * digamma(whole) - total((c - 1.0) * digamma(c), axis=-1)
        return log_beta(c) + spread

    def log_prob(self, value: AnyTensor) -> Any:
        """The logarithm of the density at the shares ``value``."""
        value = tensor_value("Dirichlet.log_prob", value)
        return total((self.concentration - 1.0) * log(value), axis=-1) - log_beta(self.concentration)


@register_kl(Dirichlet, Dirichlet)
def _kl(p: Dirichlet, q: Dirichlet) -> Any:
    return dirichlet_divergence(p.concentration, q.concentration)
