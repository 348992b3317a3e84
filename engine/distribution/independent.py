"""Dimensions of the batch taken for dimensions of the event."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.distribution.common.mathematics import sum_rightmost
from engine.distribution.distribution import Distribution
from engine.tensor.tensor_like import AnyTensor, ShapeLike


class Independent(Distribution):
    """``base`` with the last ``reinterpreted_batch_rank`` dimensions of its batch as part of one event.

    Raises DTypeError for a base that is not a Distribution, ArgumentError for more dimensions than that.
    """

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Distribution):
            raise DTypeError(f"Independent: base is not a Distribution: got {type(base).__name__}")
        rank = len(base.batch_shape)
        if not 0 < reinterpreted_batch_rank <= rank:
            raise ArgumentError(
                f"Independent: reinterpreted_batch_rank is from 1 to the {rank} dimensions of the batch: got "
                f"{reinterpreted_batch_rank}"
            )
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank
        batch_rank = rank - reinterpreted_batch_rank
        super().__init__(base.batch_shape[:batch_rank], (*base.batch_shape[batch_rank:], *base.event_shape))

    @property
    def mean(self) -> Any:
        """The mean of the base."""
        return self._base.mean

    @property
    def variance(self) -> Any:
        """The variance of the base."""
        return self._base.variance

    def sample(self, shape: ShapeLike = ()) -> Any:
        """Draws of the base; gradients flow through them where they do there."""
        return self._base.sample(shape)

    def rsample(self, shape: ShapeLike = ()) -> Any:
        """Draws of the base as a differentiable function of its parameters."""
        return self._base.rsample(shape)

    def log_prob(self, value: AnyTensor) -> Any:
        """The logarithm of the density at ``value``, summed over the event."""
        return sum_rightmost(self._base.log_prob(value), self._reinterpreted_batch_rank)

    def entropy(self) -> Any:
        """The entropy of the base, summed over the event."""
        return sum_rightmost(self._base.entropy(), self._reinterpreted_batch_rank)
