"""The base class of distributions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core.errors import UnsupportedError
from engine.distribution.common.divergence import divergence
from engine.tensor.elementwise.exponential import exp
from engine.tensor.tensor_like import AnyTensor, ShapeLike


class Distribution:
    """A probability distribution, or a batch of independent ones.

    ``batch_shape`` counts the distributions, ``event_shape`` is the shape of one draw; a sample has the shape
    ``sample_shape + batch_shape + event_shape``. What a distribution does not have raises UnsupportedError.
    """

    def __init__(self, batch_shape: Iterable[int] = (), event_shape: Iterable[int] = ()) -> None:
        self._batch_shape = tuple(batch_shape)
        self._event_shape = tuple(event_shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """How many distributions this is."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one distribution."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """The mean of each distribution."""
        raise self._unsupported("mean")

    @property
    def variance(self) -> Any:
        """The variance of each distribution."""
        raise self._unsupported("variance")

    def sample(self, shape: ShapeLike = ()) -> Any:
        """Draws; gradients do not flow through them, unless the distribution says so."""
        raise self._unsupported("sample()")

    def rsample(self, shape: ShapeLike = ()) -> Any:
        """Draws as a differentiable function of the parameters."""
        raise self._unsupported("rsample()")

    def entropy(self) -> Any:
        """The entropy of each distribution, in nats."""
        raise self._unsupported("entropy()")

    def kl_divergence(self, other: Distribution) -> Any:
        """KL(self || other)."""
        return divergence(self, other)

    def prob(self, value: AnyTensor) -> Any:
        """The probability, or its density, at ``value``."""
        return exp(self.log_prob(value))

    def log_prob(self, value: AnyTensor) -> Any:
        """The logarithm of the probability, or of its density, at ``value``."""
        raise self._unsupported("log_prob()")

    def probs(self, value: AnyTensor) -> Any:
        """The older name of ``prob``, where a distribution has it."""
        raise self._unsupported("probs()")

    def _extend_shape(self, sample_shape: Iterable[int]) -> tuple[int, ...]:
        """The shape of a sample."""
        return (*sample_shape, *self._batch_shape, *self._event_shape)

    def _unsupported(self, what: str) -> UnsupportedError:
        return UnsupportedError(f"{type(self).__name__}: it has no {what}")
