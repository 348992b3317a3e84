"""Distributions of a transformed random variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import DTypeError, ShapeError
from engine.distribution.common.arguments import sample_shape
from engine.distribution.common.mathematics import sum_rightmost
from engine.distribution.distribution import Distribution
from engine.distribution.independent import Independent
from engine.distribution.transform import ChainTransform, Transform
from engine.distribution.transform import base as delegates
from engine.tensor.tensor_like import AnyTensor, ShapeLike


class TransformedDistribution(Distribution):
    """The distribution of a draw from ``base`` that goes through ``transforms``, the first of them first.

    Where the transforms take events of more dimensions than those of the base, the last dimensions of its
    batch become part of the event. Raises DTypeError for other things than a Distribution and Transforms,
    ShapeError where the base has too few dimensions.
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        if not isinstance(base, Distribution):
            raise DTypeError(
                f"TransformedDistribution: base is not a Distribution: got {type(base).__name__}"
            )
        if not isinstance(transforms, (Sequence, ChainTransform)):
            raise DTypeError(
                "TransformedDistribution: transforms is not a sequence: got "
                f"{type(transforms).__name__}; write "
                "[transform]"
            )
        chain = transforms if isinstance(transforms, ChainTransform) else ChainTransform(transforms)
        needed = chain._domain.event_rank
        shape = (*base.batch_shape, *base.event_shape)
        if len(shape) < needed:
            raise ShapeError(
                f"TransformedDistribution: the transforms take events of {needed} dimensions: the base has "
                f"the shape {list(shape)}; give its parameters more dimensions"
            )
        if needed > len(base.event_shape):
            base = Independent(base, needed - len(base.event_shape))
        self._base: Any = base
        self._transforms = list(chain.transforms)
        self._before = tuple(chain.inverse_shape(chain.forward_shape(shape)))
        rank = chain._codomain.event_rank + max(len(base.event_shape) - needed, 0)
        after = tuple(chain.forward_shape(shape))
        super().__init__(after[: len(after) - rank], after[len(after) - rank :])

    def sample(self, shape: ShapeLike = ()) -> Any:
        """Draws of shape ``shape + batch_shape + event_shape``."""
        return self._transformed(self._base.sample(self._shape_of_base(shape)))

    def rsample(self, shape: ShapeLike = ()) -> Any:
        """Draws as a differentiable function of the parameters of the base and of the transforms."""
        return self._transformed(self._base.rsample(self._shape_of_base(shape)))

    def _shape_of_base(self, shape: Any) -> list[Any]:
        """The sample shape for the base: with the dimensions that the transforms' parameters add."""
        sizes = sample_shape(f"{type(self).__name__}.sample", shape)
        own = (*self._base.batch_shape, *self._base.event_shape)
        added = len(self._before) - len(own)
        if self._before[added:] != own:
            raise ShapeError(
                f"{type(self).__name__}.sample: the transforms broadcast the base's shape {list(own)} to "
                f"{list(self._before)}; give the base's parameters this shape"
            )
        return [*sizes, *self._before[:added]]

    def _transformed(self, x: Any) -> Any:
        for transform in self._transforms:
            x = transform.forward(x)
        return x

    def log_prob(self, value: AnyTensor) -> Any:
        """The logarithm of the density at ``value``: that of the base, and the change of volume."""
        found: Any = 0.0
        rank = len(self.event_shape)
        for transform in reversed(self._transforms):
            before = transform.inverse(value)
            rank += transform._domain.event_rank - transform._codomain.event_rank
            volume = transform.forward_log_det_jacobian(before)
            found = found - sum_rightmost(volume, rank - transform._domain.event_rank)
            value = before
        return sum_rightmost(self._base.log_prob(value), rank - len(self._base.event_shape)) + found


@delegates.transformed.define
def transformed(base: Distribution, transform: Transform) -> Distribution:
    """See ``engine.distribution.transform.base.transformed``."""
    return TransformedDistribution(base, [transform])
