"""The base class of transforms of random variables."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from engine.core.delegate import delegate
from engine.core.errors import DTypeError, ShapeError, UnsupportedError
from engine.distribution import variable
from engine.distribution.distribution import Distribution
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.tensor_like import AnyTensor


class Type(enum.Enum):
    """What a transform is as a function: only an injective one has a change of volume."""

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @classmethod
    def is_injective(cls, kind: Type) -> bool:
        return kind in (cls.BIJECTION, cls.INJECTION)


@delegate("engine.distribution.transformed_distribution")
def transformed(base: Distribution, transform: Transform) -> Distribution:
    """The distribution of a draw from ``base`` that goes through ``transform``."""
    raise NotImplementedError


@delegate("engine.distribution.transform.composed")
def chain(first: Transform, second: Transform) -> Transform:
    """One transform after the other."""
    raise NotImplementedError


class Transform:
    """A function of random variables, with its inverse and its change of volume.

    A subclass defines ``_forward``, ``_inverse``, and ``_forward_log_det_jacobian`` or
    ``_inverse_log_det_jacobian`` (log |det J|, for each event); where shapes change, ``_forward_shape`` and
    ``_inverse_shape`` too, and ``_domain`` and ``_codomain`` where its events have dimensions.
    """

    _type = Type.INJECTION

    @classmethod
    def _is_injective(cls) -> bool:
        return Type.is_injective(cls._type)

    @property
    def _domain(self) -> variable.Variable:
        return variable.real

    @property
    def _codomain(self) -> variable.Variable:
        return variable.real

    def __call__(self, input: Distribution | Transform | AnyTensor) -> Any:
        """The transformed distribution, this transform and then ``input``, or the transformed tensor."""
        if isinstance(input, Distribution):
            return transformed(input, self)
        if isinstance(input, Transform):
            return chain(self, input)
        return self.forward(input)

    def forward(self, x: AnyTensor) -> Any:
        """f(x)."""
        self._check("forward", x, self._domain.event_rank)
        return self._forward(x)

    def inverse(self, y: AnyTensor) -> Any:
        """The x with f(x) = y; a tuple where there are several."""
        self._check("inverse", y, self._codomain.event_rank)
        return self._inverse(y)

    def forward_log_det_jacobian(self, x: AnyTensor) -> Any:
        """log |det f'(x)|, for each event. Raises UnsupportedError where f is not injective."""
        self._check("forward_log_det_jacobian", x, self._domain.event_rank)
        if not self._is_injective():
            raise self._unsupported("change of volume, as it is not injective")
        return self._call_forward_log_det_jacobian(x)

    def inverse_log_det_jacobian(self, y: AnyTensor) -> Any:
        """log |det| of the inverse's derivative at y, for each event."""
        self._check("inverse_log_det_jacobian", y, self._codomain.event_rank)
        return self._call_inverse_log_det_jacobian(y)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of f(x) for x of ``shape``."""
        self._check_shape("forward_shape", shape)
        found: Sequence[int] = self._forward_shape(shape)
        return found

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of x for f(x) of ``shape``."""
        self._check_shape("inverse_shape", shape)
        found: Sequence[int] = self._inverse_shape(shape)
        return found

    def _forward(self, x: Any) -> Any:
        raise self._unsupported("_forward()")

    def _inverse(self, y: Any) -> Any:
        raise self._unsupported("_inverse()")

    def _forward_shape(self, shape: Any) -> Any:
        return shape

    def _inverse_shape(self, shape: Any) -> Any:
        return shape

    def _call_forward_log_det_jacobian(self, x: Any) -> Any:
        if hasattr(self, "_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(x)
        if hasattr(self, "_inverse_log_det_jacobian"):
            return -self._inverse_log_det_jacobian(self.forward(x))
        raise self._unsupported("_forward_log_det_jacobian() and no _inverse_log_det_jacobian()")

    def _call_inverse_log_det_jacobian(self, y: Any) -> Any:
        if hasattr(self, "_inverse_log_det_jacobian"):
            return self._inverse_log_det_jacobian(y)
        if hasattr(self, "_forward_log_det_jacobian"):
            return -self._forward_log_det_jacobian(self.inverse(y))
        raise self._unsupported("_inverse_log_det_jacobian() and no _forward_log_det_jacobian()")

    def _unsupported(self, what: str) -> UnsupportedError:
        return UnsupportedError(f"{type(self).__name__}: it has no {what}")

    def _check(self, where: str, value: Any, rank: int) -> None:
        if not is_tensor(value):
            raise DTypeError(
                f"{type(self).__name__}.{where}: takes a Tensor: got {type(value).__name__}; use to_tensor()"
            )
        if value.ndim < rank:
            raise ShapeError(
                f"{type(self).__name__}.{where}: its events have {rank} dimensions: got a tensor of shape "
                f"{list(value.shape)}"
            )

    def _check_shape(self, where: str, shape: Any) -> None:
        if not isinstance(shape, Sequence):
            raise DTypeError(
                f"{type(self).__name__}.{where}: a shape must be a sequence of integers: got "
                f"{type(shape).__name__}"
            )
