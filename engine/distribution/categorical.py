"""The categorical distribution."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ShapeError
from engine.distribution.common.arguments import (
    arrays_or_tensors,
    floating,
    sample_shape,
    tensor_value,
    without_gradient,
)
from engine.distribution.distribution import Distribution
from engine.distribution.kl import register_kl
from engine.nn.functional.activation import log_softmax, softmax
from engine.tensor.arguments.sizes import integers
from engine.tensor.elements.scattering import gather, take_along_axis
from engine.tensor.elementwise.exponential import exp, log
from engine.tensor.manipulation import broadcast_to, reshape, transpose
from engine.tensor.math import cast
from engine.tensor.random import multinomial
from engine.tensor.reductions.reduction import sum as total
from engine.tensor.tensor_like import AnyTensor, ShapeLike, TensorLike


class Categorical(Distribution):
    """Distributions over categories, with ``logits`` along the last axis: lists, an array or a Tensor.

    As in Paddle 2.6 ``probs``, ``prob`` and ``log_prob`` take ``logits`` for weights, divided by their sum,
    and ``sample``, ``entropy`` and ``kl_divergence`` for logarithms of weights.
    """

    def __init__(self, logits: TensorLike, name: str | None = None) -> None:
        (found,) = arrays_or_tensors("Categorical", logits, whole_too=False)
        self.logits = floating(found)
        self.name = "Categorical" if name is None else name
        self.dtype = self.logits.dtype
        self._prob = self.logits / total(self.logits, axis=-1, keepdim=True)
        super().__init__(self.logits.shape[:-1])

    def sample(self, shape: ShapeLike) -> Any:  # type: ignore[override]  # Paddle's has no default shape
        """Numbers of categories, int64, of shape ``shape + batch_shape``."""
        sizes = integers("Categorical.sample", sample_shape("Categorical.sample", shape))
        drawn = without_gradient(draw, softmax(self.logits), math.prod(sizes))
        return reshape(drawn, [*sizes, *self.batch_shape])

    def entropy(self) -> Any:
        """The entropy of each distribution, in nats."""
        logs = log_softmax(self.logits)
        return -total(exp(logs) * logs, axis=-1)

    def probs(self, value: AnyTensor) -> Any:
        """The probability of the categories ``value``.

        Several distributions have one row of categories each, or share one row. Raises ShapeError otherwise.
        """
        value = tensor_value("Categorical.probs", value)
        if value.dtype.name not in ("int32", "int64"):
            value = cast(value, "int64")
        if self._prob.ndim == 1:
            return reshape(gather(self._prob, reshape(value, [-1])), value.shape)
        if value.ndim == 1:
            value = broadcast_to(value, [*self._prob.shape[:-1], value.shape[0]])
        if value.ndim != self._prob.ndim:
            raise ShapeError(
                f"Categorical.probs: value is one row of categories, or has a row for each distribution: got "
                f"{list(value.shape)} for logits {list(self._prob.shape)}"
            )
        return take_along_axis(self._prob, value, axis=-1)

    def log_prob(self, value: AnyTensor) -> Any:
        """The logarithm of the probability of the categories ``value``; see ``probs``."""
        return log(self.probs(value))


def draw(probabilities: AnyTensor, count: int) -> Any:
    """``count`` categories from each row of ``probabilities``: [count, rows]."""
    rows = probabilities
    if rows.ndim != 2:
        rows = reshape(rows, [-1, rows.shape[-1]])
    return transpose(multinomial(rows, count, replacement=True), [1, 0])


@register_kl(Categorical, Categorical)
def _kl(p: Categorical, q: Categorical) -> Any:
    ours, theirs = log_softmax(p.logits), log_softmax(q.logits)
    return total(exp(ours) * (ours - theirs), axis=-1, keepdim=True)
