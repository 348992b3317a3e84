"""The beta distribution."""

from __future__ import annotations

from typing import Any

from engine.distribution.common.arguments import ScalarOrTensor, floating, scalars_or_tensors, tensor_value
from engine.distribution.common.mathematics import dirichlet_divergence, log_beta
from engine.distribution.dirichlet import Dirichlet
from engine.distribution.exponential_family import ExponentialFamily
from engine.distribution.kl import register_kl
from engine.tensor.elementwise.exponential import log, log1p
from engine.tensor.manipulation import stack
from engine.tensor.tensor_like import AnyTensor, ShapeLike


class Beta(ExponentialFamily):
    """Beta distributions on (0, 1), with the density x**(alpha - 1) * (1 - x)**(beta - 1) up to a factor."""

    def __init__(self, alpha: ScalarOrTensor, beta: ScalarOrTensor) -> None:
        self.alpha, self.beta = (floating(x) for x in scalars_or_tensors("Beta", alpha=alpha, beta=beta))
        self._both = stack([self.alpha, self.beta], axis=-1)
        super().__init__(self.alpha.shape)

    @property
    def mean(self) -> Any:
        """alpha / (alpha + beta)."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Any:
        """alpha beta / ((alpha + beta)**2 (alpha + beta + 1))."""
        whole = self.alpha + self.beta
        return self.alpha * self.beta / (whole * whole * (whole + 1.0))

    def sample(self, shape: ShapeLike = ()) -> Any:
        """Draws of shape ``shape + batch_shape``."""
        return Dirichlet(self._both).sample(shape)[..., 0]

    def entropy(self) -> Any:
        """The entropy of each distribution, in nats."""
        return Dirichlet(self._both).entropy()

    def log_prob(self, value: AnyTensor) -> Any:
        """The logarithm of the density at ``value``."""
        value = tensor_value("Beta.log_prob", value)
        powers = (self.alpha - 1.0) * log(value) + (self.beta - 1.0) * log1p(-value)
        return powers - log_beta(self._both)


@register_kl(Beta, Beta)
def _kl(p: Beta, q: Beta) -> Any:
    return dirichlet_divergence(p._both, q._both)
