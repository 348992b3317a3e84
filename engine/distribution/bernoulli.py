"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError
from engine.distribution.common.arguments import (
    arrays_or_tensors,
    floating,
    sample_shape,
    sizes_of,
    value_like,
    without_gradient,
)
from engine.distribution.common.mathematics import open_uniform, softplus
from engine.distribution.exponential_family import ExponentialFamily
from engine.distribution.kl import register_kl
from engine.tensor.creation import ones_like, zeros_like
from engine.tensor.elementwise.exponential import log, log1p
from engine.tensor.manipulation import broadcast_to
from engine.tensor.math import clip
from engine.tensor.random import bernoulli
from engine.tensor.search import where
from engine.tensor.tensor_like import AnyTensor, ShapeLike, TensorLike


class Bernoulli(ExponentialFamily):
    """Distributions of 1 with the probability ``probs``, else 0.

    Raises ArgumentError for a probability outside [0, 1].
    """

    def __init__(self, probs: TensorLike, name: str | None = None) -> None:
        (found,) = arrays_or_tensors("Bernoulli", probs, whole_too=False)
        self.probs: Any = floating(found)
        self.name = "Bernoulli" if name is None else name
        self.dtype = self.probs.dtype
        if not modes.is_symbolic(self.probs):
            array = self.probs.numpy()
            if not ((array >= 0) & (array <= 1)).all():
                raise ArgumentError(
                    f"Bernoulli: probs holds probabilities, 0 to 1: got {array.min()} to {array.max()}"
                )
        # Limited, so that the logarithm of what does not happen is finite.
        least = float(np.finfo(self.dtype.np).eps)
        limited = clip(self.probs, least, 1.0 - least)
        self.logits = log(limited) - log1p(-limited)
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Any:
        """``probs``."""
        return self.probs

    @property
    def variance(self) -> Any:
        """probs (1 - probs)."""
        return self.probs * (1.0 - self.probs)

    def sample(self, shape: ShapeLike) -> Any:  # type: ignore[override]  # Paddle's has no default shape
        """Zeros and ones of shape ``shape + batch_shape``."""
        sizes = sample_shape("Bernoulli.sample", shape) + sizes_of(self.probs)
        return without_gradient(lambda: bernoulli(broadcast_to(self.probs, sizes)))

    def rsample(self, shape: ShapeLike, temperature: float = 1.0) -> Any:  # type: ignore[override]  # Paddle's has no default shape
        """Draws whose sigmoid is near 0 or 1, the nearer the lower ``temperature``.

        They are a differentiable function of ``probs``: the concrete distribution (Maddison, Mnih,
        Teh 2016; Jang, Gu, Poole 2016).
        """
        sizes = sample_shape("Bernoulli.rsample", shape) + sizes_of(self.probs)
        even = open_uniform(sizes, self.dtype.name)
        return (self.logits + log(even) - log1p(-even)) / temperature

    def entropy(self) -> Any:
        """The entropy of each distribution, in nats."""
        return softplus(self.logits) - self.logits * self.probs

    def log_prob(self, value: AnyTensor) -> Any:
        """The logarithm of the probability of ``value``, 0 or 1."""
        return value_like("Bernoulli.log_prob", value, self.probs) * self.logits - softplus(self.logits)

    def cdf(self, value: AnyTensor) -> Any:
        """The probability of at most ``value``."""
        value = value_like("Bernoulli.cdf", value, self.probs) + self.probs * 0.0
        below_one = where(value < 0, zeros_like(value), 1.0 - self.probs + zeros_like(value))
        return where(value < 1, below_one, ones_like(value))


@register_kl(Bernoulli, Bernoulli)
def _kl(p: Bernoulli, q: Bernoulli) -> Any:
    return p.probs * (p.logits - q.logits) - softplus(p.logits) + softplus(q.logits)
