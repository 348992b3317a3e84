"""Transforms of whole vectors and arrays: another shape, and shares that sum to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.core.errors import DTypeError, ShapeError
from engine.distribution import constraint, variable
from engine.distribution.common.arguments import sizes_of
from engine.distribution.common.mathematics import softplus
from engine.distribution.transform.base import Transform, Type
from engine.nn.functional.activation import softmax
from engine.tensor.creation import arange, ones_like, zeros_like
from engine.tensor.elementwise.exponential import exp, log
from engine.tensor.manipulation import concat, reshape
from engine.tensor.reductions.cumulative import cumsum
from engine.tensor.reductions.reduction import sum as total


class ReshapeTransform(Transform):
    """Events of the shape ``in_event_shape`` in the shape ``out_event_shape``, of as many elements.

    Raises DTypeError for an invalid shape, ShapeError for another number of elements.
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        if not isinstance(in_event_shape, Sequence) or not isinstance(out_event_shape, Sequence):
            raise DTypeError(
                "ReshapeTransform: shapes are sequences of integers: got "
                f"{in_event_shape!r} and {out_event_shape!r}"
            )
        if math.prod(in_event_shape) != math.prod(out_event_shape):
            raise ShapeError(
                "ReshapeTransform: both shapes need the same number of elements: got "
                f"{list(in_event_shape)} and {list(out_event_shape)}"
            )
        self._in_event_shape = tuple(in_event_shape)
        self._out_event_shape = tuple(out_event_shape)

    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The shape of an event before."""
        return self._in_event_shape

    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """The shape of an event afterwards."""
        return self._out_event_shape

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._in_event_shape))

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._out_event_shape))

    def _forward(self, x: Any) -> Any:
        return reshape(x, [*self._batch(x, self._in_event_shape), *self._out_event_shape])

    def _inverse(self, y: Any) -> Any:
        return reshape(y, [*self._batch(y, self._out_event_shape), *self._in_event_shape])

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return total(zeros_like(x), axis=list(range(-len(self._in_event_shape), 0)))

    def _batch(self, x: Any, event: tuple[int, ...]) -> list[Any]:
        # As in Paddle an event may have another shape of the same rank and number of elements.
        batch_rank = x.ndim - len(event)
        if batch_rank < 0:
            self._check_event(tuple(x.shape), event)
        return sizes_of(x)[:batch_rank]

    def _check_event(self, got: tuple[int, ...], event: tuple[int, ...]) -> None:
        if len(got) < len(event) or any(a != b and a != -1 for a, b in zip(got, event, strict=True)):
            raise ShapeError(f"ReshapeTransform: events have the shape {list(event)}: got {list(got)}")

    def _forward_shape(self, shape: Any) -> tuple[int, ...]:
        return self._reshaped(shape, self._in_event_shape, self._out_event_shape)

    def _inverse_shape(self, shape: Any) -> tuple[int, ...]:
        return self._reshaped(shape, self._out_event_shape, self._in_event_shape)

    def _reshaped(self, shape: Any, before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
        batch_rank = max(len(shape) - len(before), 0)
        self._check_event(tuple(shape[batch_rank:]), before)
        return (*shape[:batch_rank], *after)


class SoftmaxTransform(Transform):
    """Shares that sum to 1: exp(x) divided by its sum along the last axis. It is not injective."""

    _type = Type.OTHER

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, constraint.simplex)

    def _forward(self, x: Any) -> Any:
        return softmax(x)

    def _inverse(self, y: Any) -> Any:
        return log(y)

    def _forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ShapeError("SoftmaxTransform: an event is a vector: got the shape of a single number")
        return shape

    _inverse_shape = _forward_shape


class StickBreakingTransform(Transform):
    """Vectors of n numbers as n + 1 shares that sum to 1: each breaks its part off the rest of a stick."""

    _type = Type.BIJECTION

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, constraint.simplex)

    def _log_parts(self, x: Any) -> tuple[Any, Any]:
        """Logarithms of the part that each number breaks off, and of what it leaves.

        For x = 0 all shares are equal.
        """
        left_over = log(arange(x.shape[-1], 0, -1, dtype=x.dtype))
        centred = x - left_over
        return -softplus(-centred), -softplus(centred)

    def _forward(self, x: Any) -> Any:
        parts, rests = self._log_parts(x)
        sticks = cumsum(rests, axis=-1)
        return concat([exp(parts + sticks - rests), exp(sticks[..., -1:])], axis=-1)

    def _inverse(self, y: Any) -> Any:
        shares = y[..., :-1]
        left = ones_like(shares) - cumsum(shares, axis=-1)
        left_over = log(arange(shares.shape[-1], 0, -1, dtype=y.dtype))
        return log(shares) - log(left) + left_over

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        parts, rests = self._log_parts(x)
        # The derivative of a share by its own number: its part, times what it leaves, times the stick before.
        return total(parts + cumsum(rests, axis=-1), axis=-1)

    def _forward_shape(self, shape: Any) -> tuple[int, ...]:
        return self._longer(shape, 1)

    def _inverse_shape(self, shape: Any) -> tuple[int, ...]:
        return self._longer(shape, -1)

    def _longer(self, shape: Any, by: int) -> tuple[int, ...]:
        if len(shape) < 1:
            raise ShapeError("StickBreakingTransform: an event is a vector: got the shape of a single number")
        return (*shape[:-1], shape[-1] + by)
