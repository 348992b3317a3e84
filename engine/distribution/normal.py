"""The normal distribution."""

from __future__ import annotations

from typing import Any

from engine.distribution.common.arguments import (
    arrays_or_tensors,
    floating,
    sample_shape,
    sizes_of,
    value_like,
)
from engine.distribution.common.mathematics import HALF_LOG_2_PI
from engine.distribution.distribution import Distribution
from engine.distribution.kl import register_kl
from engine.ops.random import draws
from engine.tensor.arguments.sizes import dimensions
from engine.tensor.elementwise.exponential import exp, log
from engine.tensor.tensor_like import AnyTensor, ShapeLike, TensorLike


class Normal(Distribution):
    """Normal distributions with the mean ``loc`` and the standard deviation ``scale``.

    Both are numbers, lists or arrays, which broadcast, or both are tensors. Gradients flow through samples.
    """

    def __init__(self, loc: TensorLike, scale: TensorLike, name: str | None = None) -> None:
        self.loc, self.scale = arrays_or_tensors("Normal", loc, scale)
        self.name = "Normal" if name is None else name
        self.dtype = self.loc.dtype
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        """``loc``."""
        return self.loc

    @property
    def variance(self) -> Any:
        """``scale`` squared."""
        return self.scale * self.scale

    def sample(self, shape: ShapeLike = (), seed: int = 0) -> Any:
        """Draws of shape ``shape + batch_shape``; a ``seed`` that is not 0 fixes them."""
        loc, scale = floating(self.loc), floating(self.scale)
        like = loc + scale
        sizes = dimensions("Normal.sample", sample_shape("Normal.sample", shape) + sizes_of(like))
        return loc + draws.gaussian(dtype=like.dtype.name, seed=seed, **sizes) * scale

    def rsample(self, shape: ShapeLike = ()) -> Any:
        """Draws as a differentiable function of ``loc`` and ``scale``."""
        return self.sample(shape)

    def entropy(self) -> Any:
        """0.5 + log(sqrt(2 pi) scale)."""
        return log(floating(self.scale)) + (0.5 + HALF_LOG_2_PI) + (self.loc * 0.0)

    def log_prob(self, value: AnyTensor) -> Any:
        """The logarithm of the density at ``value``."""
        value = value_like("Normal.log_prob", value, self.loc)
        far = (value - self.loc) / self.scale
        return -0.5 * far * far - log(floating(self.scale)) - HALF_LOG_2_PI

    def probs(self, value: AnyTensor) -> Any:
        """The density at ``value``."""
        return exp(self.log_prob(value))


@register_kl(Normal, Normal)
def _kl(p: Normal, q: Normal) -> Any:
    ratio = p.scale / q.scale
    far = (p.loc - q.loc) / q.scale
    return 0.5 * (ratio * ratio + far * far - 1.0) - log(ratio)
