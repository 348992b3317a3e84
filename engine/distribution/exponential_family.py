"""Distributions of the exponential family: entropy and divergence from the log normalizer alone.

The density is exp(<t(x), theta> - F(theta) + k(x)); the entropy F(theta) - <theta, F'(theta)> - E[k(x)] and
the divergence, a Bregman divergence of F, follow by differentiating F (Nielsen, Nock, ICIP 2010).
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import UnsupportedError
from engine.distribution.common.mathematics import sum_rightmost
from engine.distribution.distribution import Distribution
from engine.distribution.kl import register_kl
from engine.program.backward.grad import grad
from engine.tensor.creation import assign


class ExponentialFamily(Distribution):
    """The base of distributions of the exponential family.

    A subclass defines ``_natural_parameters`` (a tuple of tensors), ``_log_normalizer`` (a function of them)
    and ``_mean_carrier_measure``, the mean of k(x), a number or tensor.
    """

    @property
    def _natural_parameters(self) -> Any:
        raise self._unsupported("_natural_parameters")

    def _log_normalizer(self, *natural_parameters: Any) -> Any:
        raise self._unsupported("_log_normalizer()")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise self._unsupported("_mean_carrier_measure")

    def entropy(self) -> Any:
        """The entropy of each distribution, in nats."""
        parameters, normalizer, slopes = self._differentiated()
        found = normalizer - self._mean_carrier_measure
        for parameter, slope in zip(parameters, slopes, strict=True):
            found = found - self._over_events(parameter * slope)
        return found

    def _differentiated(self) -> tuple[list[Any], Any, list[Any]]:
        """The natural parameters, the log normalizer, and its derivatives by them."""
        parameters = []
        for parameter in self._natural_parameters:
            leaf = assign(parameter)
            leaf.stop_gradient = False
            parameters.append(leaf)
        normalizer = self._log_normalizer(*parameters)
        return parameters, normalizer, list(grad(normalizer.sum(), parameters, create_graph=True))

    def _over_events(self, x: Any) -> Any:
        return sum_rightmost(x, len(self.event_shape))


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl(p: ExponentialFamily, q: ExponentialFamily) -> Any:
    if type(p) is not type(q):
        raise UnsupportedError(
            f"kl_divergence: no formula for {type(p).__name__} and {type(q).__name__}; register one with "
            "register_kl"
        )
    parameters, normalizer, slopes = p._differentiated()
    others = q._natural_parameters
    found = q._log_normalizer(*others) - normalizer
    for parameter, other, slope in zip(parameters, others, slopes, strict=True):
        found = found - p._over_events((other - parameter) * slope)
    return found
