"""The multinomial distribution."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.distribution.categorical import draw
from engine.distribution.common.arguments import (
    floating,
    sample_shape,
    tensor_value,
    value_like,
    without_gradient,
)
from engine.distribution.common.mathematics import times_log
from engine.distribution.distribution import Distribution
from engine.nn.functional.input import one_hot
from engine.tensor.arguments.sizes import integers
from engine.tensor.creation import arange
from engine.tensor.elementwise.exponential import exp
from engine.tensor.elementwise.special import lgamma
from engine.tensor.manipulation import reshape, unsqueeze
from engine.tensor.math import cast
from engine.tensor.reductions.reduction import sum as total
from engine.tensor.tensor_like import AnyTensor, ShapeLike


class Multinomial(Distribution):
    """Distributions of how often each category is drawn in ``total_count`` draws.

    ``probs``, a tensor, holds the weights of the categories along its last axis. Raises ArgumentError for a
    ``total_count`` that is not a positive integer, ShapeError for weights without dimensions.
    """

    def __init__(self, total_count: int, probs: AnyTensor) -> None:
        if not isinstance(total_count, int) or total_count < 1:
            raise ArgumentError(
                f"Multinomial: total_count is an integer above 0: got {total_count!r}; count the draws"
            )
        weights = floating(tensor_value("Multinomial", probs))
        if weights.ndim < 1:
            raise ShapeError("Multinomial: probs has no dimension; give one weight for each category")
        self.probs: Any = weights / total(weights, axis=-1, keepdim=True)
        self.total_count = total_count
        super().__init__(weights.shape[:-1], weights.shape[-1:])

    @property
    def mean(self) -> Any:
        """total_count probs."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        """total_count probs (1 - probs), of each category."""
        return self.total_count * self.probs * (1.0 - self.probs)

    def sample(self, shape: ShapeLike = ()) -> Any:
        """Counts of shape ``shape + batch_shape + event_shape``, in the dtype of ``probs``."""
        return without_gradient(self._sample, shape)

    def _sample(self, shape: Any) -> Any:
        sizes = integers("Multinomial.sample", sample_shape("Multinomial.sample", shape))
        drawn = draw(self.probs, self.total_count * math.prod(sizes))
        drawn = reshape(drawn, [self.total_count, math.prod(sizes), -1])
        counts = total(one_hot(drawn, self.event_shape[0]), axis=0)
        return cast(reshape(counts, self._extend_shape(sizes)), self.probs.dtype.name)

    def log_prob(self, value: AnyTensor) -> Any:
        """The logarithm of the probability of the counts ``value``, which stand along the last axis."""
        value = value_like("Multinomial.log_prob", value, self.probs) + self.probs * 0.0
        ways = lgamma(total(value, axis=-1) + 1.0) - total(lgamma(value + 1.0), axis=-1)
        return ways + total(times_log(value, self.probs), axis=-1)

    def entropy(self) -> Any:
        """The entropy of each distribution, in nats."""
        n, p = self.total_count, self.probs
        counts = arange(0, n + 1, dtype=p.dtype.name)
        each = unsqueeze(p, -1)  # a category's count alone is binomially distributed
        ways = math.lgamma(n + 1) - lgamma(counts + 1.0) - lgamma(n - counts + 1.0)
        binomial = exp(ways + times_log(counts, each) + times_log(n - counts, 1.0 - each))
        orders = total(binomial * lgamma(counts + 1.0), axis=-1)
        return total(orders - n * times_log(p, p), axis=-1) - math.lgamma(n + 1)
