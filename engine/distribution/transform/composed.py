"""Transforms made of others: one after the other, of larger events, and side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.distribution import variable
from engine.distribution.common.mathematics import sum_rightmost
from engine.distribution.transform import base as delegates
from engine.distribution.transform.base import Transform
from engine.tensor.manipulation import stack, unstack


def _require_transforms(where: str, transforms: Any) -> None:
    if not isinstance(transforms, Sequence):
        raise DTypeError(
            f"{where}: transforms is not a sequence: got {type(transforms).__name__}; write [transform]"
        )
    for each in transforms:
        if not isinstance(each, Transform):
            raise DTypeError(f"{where}: transforms holds Transforms: got {type(each).__name__}")


class ChainTransform(Transform):
    """Transforms one after the other, the first of them first.

    Raises DTypeError for a value that is not a sequence of
    Transforms."""

    def __init__(self, transforms: Sequence[Transform]) -> None:
        _require_transforms("ChainTransform", transforms)
        self.transforms = transforms

    def _is_injective(self) -> bool:  # type: ignore[override]  # of an instance: its parts decide
        return all(each._is_injective() for each in self.transforms)

    def _forward(self, x: Any) -> Any:
        for each in self.transforms:
            x = each.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for each in reversed(self.transforms):
            y = each.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        found: Any = 0.0
        rank = self._domain.event_rank
        for each in self.transforms:
            found = sum_rightmost(each.forward_log_det_jacobian(x), rank - each._domain.event_rank) + found
            x = each.forward(x)
            rank += each._codomain.event_rank - each._domain.event_rank
        return found

    def _forward_shape(self, shape: Any) -> Any:
        for each in self.transforms:
            shape = each.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape: Any) -> Any:
        for each in reversed(self.transforms):
            shape = each.inverse_shape(shape)
        return shape

    @property
    def _domain(self) -> variable.Variable:
        if not self.transforms:
            return variable.real
        rank = self.transforms[-1]._codomain.event_rank
        for each in reversed(self.transforms):
            rank = max(rank - each._codomain.event_rank, 0) + each._domain.event_rank
        first = self.transforms[0]._domain
        return variable.Independent(first, rank - first.event_rank)

    @property
    def _codomain(self) -> variable.Variable:
        if not self.transforms:
            return variable.real
        rank = self._domain.event_rank
        for each in self.transforms:
            rank += each._codomain.event_rank - each._domain.event_rank
        last = self.transforms[-1]._codomain
        return variable.Independent(last, rank - last.event_rank)


@delegates.chain.define
def chain(first: Transform, second: Transform) -> Transform:
    """See ``engine.distribution.transform.base.chain``."""
    return ChainTransform([first, second])


class IndependentTransform(Transform):
    """``base`` with ``reinterpreted_batch_rank`` more dimensions in an event.

    Raises DTypeError for a base that is not a Transform, ArgumentError for a number below 1.
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Transform):
            raise DTypeError(f"IndependentTransform: base is not a Transform: got {type(base).__name__}")
        if reinterpreted_batch_rank < 1:
            raise ArgumentError(
                f"IndependentTransform: reinterpreted_batch_rank is 1 or more: got {reinterpreted_batch_rank}"
            )
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank

    def _is_injective(self) -> bool:  # type: ignore[override]  # of an instance: its base decides
        return self._base._is_injective()

    def _forward(self, x: Any) -> Any:
        return self._base.forward(x)

    def _inverse(self, y: Any) -> Any:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return sum_rightmost(self._base.forward_log_det_jacobian(x), self._reinterpreted_batch_rank)

    def _forward_shape(self, shape: Any) -> Any:
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape: Any) -> Any:
        return self._base.inverse_shape(shape)

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(self._base._domain, self._reinterpreted_batch_rank)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(self._base._codomain, self._reinterpreted_batch_rank)


class StackTransform(Transform):
    """A transform of its own for each part along ``axis``.

    Raises DTypeError for a value that is not a sequence of Transforms, or is empty, and for an axis that is
    not an int.
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        _require_transforms("StackTransform", transforms)
        if not transforms:
            raise DTypeError("StackTransform: transforms is empty; give one for each part")
        if not isinstance(axis, int):
            raise DTypeError(f"StackTransform: axis is an integer: got {axis!r}")
        self._transforms = transforms
        self._axis = axis

    @property
    def transforms(self) -> Sequence[Transform]:
        """The transforms of the parts."""
        return self._transforms

    @property
    def axis(self) -> int:
        """The dimension that the parts stand along."""
        return self._axis

    def _is_injective(self) -> bool:  # type: ignore[override]  # of an instance: its parts decide
        return all(each._is_injective() for each in self._transforms)

    def _forward(self, x: Any) -> Any:
        return self._each("forward", x)

    def _inverse(self, y: Any) -> Any:
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._each("forward_log_det_jacobian", x)

    def _each(self, method: str, value: Any) -> Any:
        if not -value.ndim <= self._axis < value.ndim:
            raise ShapeError(f"StackTransform: axis {self._axis} is not a dimension of {list(value.shape)}")
        if value.shape[self._axis] != len(self._transforms):
            raise ShapeError(
                f"StackTransform: {len(self._transforms)} transforms for {value.shape[self._axis]} parts: "
                f"the tensor's shape is {list(value.shape)}, the axis {self._axis}"
            )
        parts = zip(self._transforms, unstack(value, self._axis), strict=True)
        return stack([getattr(each, method)(part) for each, part in parts], self._axis)

    @property
    def _domain(self) -> variable.Variable:
        return variable.Stack([each._domain for each in self._transforms], self._axis)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Stack([each._codomain for each in self._transforms], self._axis)
