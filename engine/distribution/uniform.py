"""The uniform distribution."""

from __future__ import annotations

from typing import Any

from engine.distribution.common.arguments import (
    arrays_or_tensors,
    floating,
    sample_shape,
    sizes_of,
    value_like,
)
from engine.distribution.distribution import Distribution
from engine.ops.random import draws
from engine.tensor.arguments.sizes import dimensions
from engine.tensor.elementwise.exponential import log
from engine.tensor.math import cast
from engine.tensor.tensor_like import AnyTensor, ShapeLike, TensorLike


class Uniform(Distribution):
    """Even distributions between ``low`` and ``high``, without the ends.

    Both are numbers, lists or arrays, which broadcast, or both are tensors. Gradients flow through samples.
    """

    def __init__(self, low: TensorLike, high: TensorLike, name: str | None = None) -> None:
        self.low, self.high = arrays_or_tensors("Uniform", low, high)
        self.name = "Uniform" if name is None else name
        self.dtype = self.low.dtype
        super().__init__(self.low.shape)

    def sample(self, shape: ShapeLike, seed: int = 0) -> Any:  # type: ignore[override]  # Paddle's has no default shape
        """Draws of shape ``shape + batch_shape``; a ``seed`` that is not 0 fixes them."""
        low, width = floating(self.low), floating(self.high - self.low)
        sizes = dimensions("Uniform.sample", sample_shape("Uniform.sample", shape) + sizes_of(width))
        return low + draws.uniform(dtype=width.dtype.name, min=0.0, max=1.0, seed=seed, **sizes) * width

    def entropy(self) -> Any:
        """log(high - low)."""
        return log(floating(self.high - self.low))

    def log_prob(self, value: AnyTensor) -> Any:
        """-log(high - low) between the ends, -infinity elsewhere."""
        return log(self._inside(value)) - self.entropy()

    def probs(self, value: AnyTensor) -> Any:
        """1 / (high - low) between the ends, 0 elsewhere."""
        return self._inside(value) / (self.high - self.low)

    def _inside(self, value: Any) -> Any:
        value = value_like("Uniform.log_prob", value, self.low)
        return cast((self.low < value) & (value < self.high), value.dtype.name)
