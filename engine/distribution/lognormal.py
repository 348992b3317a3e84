"""The log-normal distribution."""

from __future__ import annotations

from typing import Any

from engine.distribution.common.divergence import divergence
from engine.distribution.kl import register_kl
from engine.distribution.normal import Normal
from engine.distribution.transform import ExpTransform
from engine.distribution.transformed_distribution import TransformedDistribution
from engine.tensor.elementwise.exponential import exp, expm1
from engine.tensor.tensor_like import AnyTensor, TensorLike


class LogNormal(TransformedDistribution):
    """Distributions whose logarithm is normal with the mean ``loc`` and the standard deviation ``scale``.

    Both are numbers, lists or arrays, which broadcast, or both are tensors. Gradients flow through samples.
    """

    def __init__(self, loc: TensorLike, scale: TensorLike) -> None:
        super().__init__(Normal(loc, scale), [ExpTransform()])
        self.loc, self.scale = self._base.loc, self._base.scale

    @property
    def mean(self) -> Any:
        """exp(loc + scale squared / 2)."""
        return exp(self.loc + 0.5 * self._base.variance)

    @property
    def variance(self) -> Any:
        """(exp(scale squared) - 1) exp(2 loc + scale squared)."""
        squared = self._base.variance
        return expm1(squared) * exp(2.0 * self.loc + squared)

    def entropy(self) -> Any:
        """That of the normal distribution plus ``loc``."""
        return self._base.entropy() + self.loc

    def probs(self, value: AnyTensor) -> Any:
        """The density at ``value``."""
        return self.prob(value)


@register_kl(LogNormal, LogNormal)
def _kl(p: LogNormal, q: LogNormal) -> Any:
    return divergence(p._base, q._base)
