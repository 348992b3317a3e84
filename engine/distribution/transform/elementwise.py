"""Transforms that change each element on its own."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import DTypeError
from engine.distribution import constraint, variable
from engine.distribution.common.mathematics import softplus
from engine.distribution.transform.base import Transform, Type
from engine.nn.functional.activation import sigmoid
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.creation import zeros
from engine.tensor.elementwise.exponential import exp, log, log1p
from engine.tensor.elementwise.trigonometry import atanh, tanh
from engine.tensor.manipulation import broadcast_shape
from engine.tensor.math import abs as absolute
from engine.tensor.math import pow as power_of
from engine.tensor.tensor_like import AnyTensor


def _parameter(where: str, name: str, value: Any) -> Any:
    if not is_tensor(value):
        raise DTypeError(f"{where}: {name} is not a Tensor: got {type(value).__name__}; use to_tensor()")
    return value


def _broadcast(*shapes: Any) -> tuple[int, ...]:
    """The shape that the shapes broadcast to."""
    found = list(shapes[0])
    for shape in shapes[1:]:
        found = broadcast_shape(found, list(shape))
    return tuple(found)


class AbsTransform(Transform):
    """y = |x|, which is not injective: ``inverse`` gives both -y and y."""

    _type = Type.SURJECTION

    def _forward(self, x: Any) -> Any:
        return absolute(x)

    def _inverse(self, y: Any) -> Any:
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zero = zeros([], dtype=y.dtype)
        return zero, zero

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive


class AffineTransform(Transform):
    """y = loc + scale x. Raises DTypeError for parameters that are not tensors."""

    _type = Type.BIJECTION

    def __init__(self, loc: AnyTensor, scale: AnyTensor) -> None:
        self._loc = _parameter("AffineTransform", "loc", loc)
        self._scale = _parameter("AffineTransform", "scale", scale)

    @property
    def loc(self) -> Any:
        """What is added."""
        return self._loc

    @property
    def scale(self) -> Any:
        """What is multiplied with."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        return self._loc + self._scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log(absolute(self._scale))

    def _forward_shape(self, shape: Any) -> tuple[int, ...]:
        return _broadcast(shape, self._loc.shape, self._scale.shape)

    _inverse_shape = _forward_shape


class ExpTransform(Transform):
    """y = exp(x)."""

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return exp(x)

    def _inverse(self, y: Any) -> Any:
        return log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return x


class PowerTransform(Transform):
    """y = x ** power, for x above 0. Raises DTypeError for a power that is not a tensor."""

    _type = Type.BIJECTION

    def __init__(self, power: AnyTensor) -> None:
        self._power = _parameter("PowerTransform", "power", power)

    @property
    def power(self) -> Any:
        """The exponent."""
        return self._power

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return power_of(x, self._power)

    def _inverse(self, y: Any) -> Any:
        return power_of(y, 1.0 / self._power)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log(absolute(self._power * power_of(x, self._power - 1.0)))

    def _forward_shape(self, shape: Any) -> tuple[int, ...]:
        return _broadcast(shape, self._power.shape)

    _inverse_shape = _forward_shape


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x))."""

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(0.0, 1.0))

    def _forward(self, x: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return log(y) - log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """y = tanh(x)."""

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(-1.0, 1.0))

    def _forward(self, x: Any) -> Any:
        return tanh(x)

    def _inverse(self, y: Any) -> Any:
        return atanh(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        # log(1 - tanh(x)**2), without what cancels
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))
