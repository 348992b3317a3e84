"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

from engine.distribution.common.arguments import (
    ScalarOrTensor,
    floating,
    sample_shape,
    scalars_or_tensors,
    sizes_of,
    tensor_value,
    without_gradient,
)
from engine.distribution.common.mathematics import EULER, open_uniform
from engine.distribution.transform.base import Transform, Type
from engine.distribution.transform.elementwise import AffineTransform
from engine.distribution.transformed_distribution import TransformedDistribution
from engine.distribution.uniform import Uniform
from engine.tensor.creation import ones_like, zeros_like
from engine.tensor.elementwise.exponential import exp, log
from engine.tensor.tensor_like import ShapeLike, TensorLike


class _Quantile(Transform):
    """-log(-log(x)): evenly distributed numbers become Gumbel distributed ones."""

    _type = Type.BIJECTION

    def _forward(self, x: Any) -> Any:
        return -log(-log(x))

    def _inverse(self, y: Any) -> Any:
        return exp(-exp(-y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -(y + exp(-y))


class Gumbel(TransformedDistribution):
    """Gumbel distributions, of largest values, with the mode ``loc`` and the width ``scale``."""

    def __init__(self, loc: ScalarOrTensor, scale: ScalarOrTensor) -> None:
        self.loc, self.scale = scalars_or_tensors("Gumbel", loc=loc, scale=scale)
        like = floating(self.loc)
        self.base_dist = Uniform(zeros_like(like), ones_like(like))
        self.transforms = (_Quantile(), AffineTransform(self.loc, self.scale))
        super().__init__(self.base_dist, self.transforms)

    @property
    def mean(self) -> Any:
        """loc + scale times Euler's constant."""
        return self.loc + self.scale * EULER

    @property
    def variance(self) -> Any:
        """(pi scale) squared / 6."""
        return self.scale * self.scale * (math.pi**2 / 6.0)

    @property
    def stddev(self) -> Any:
        """pi scale / sqrt(6)."""
        return self.scale * (math.pi / math.sqrt(6.0))

    def sample(self, shape: ShapeLike) -> Any:  # type: ignore[override]  # Paddle's has no default shape
        """Draws of shape ``shape + batch_shape``."""
        return without_gradient(self.rsample, shape)

    def rsample(self, shape: ShapeLike) -> Any:  # type: ignore[override]  # Paddle's has no default shape
        """Draws as a differentiable function of ``loc`` and ``scale``."""
        loc = floating(self.loc)
        sizes = sample_shape("Gumbel.sample", shape) + sizes_of(loc)
        return self._transformed(open_uniform(sizes, loc.dtype.name))

    def entropy(self) -> Any:
        """log(scale) + 1 plus Euler's constant."""
        return log(floating(self.scale)) + (1.0 + EULER)

    def log_prob(self, value: TensorLike) -> Any:
        """The logarithm of the density at ``value``, a tensor, array or number."""
        far = self._far("Gumbel.log_prob", value)
        return -(far + exp(-far)) - log(floating(self.scale))

    def cdf(self, value: TensorLike) -> Any:
        """The probability of at most ``value``, a tensor, array or number."""
        return exp(-exp(-self._far("Gumbel.cdf", value)))

    def _far(self, where: str, value: Any) -> Any:
        return (tensor_value(where, value, self.loc, numbers=True) - self.loc) / self.scale
