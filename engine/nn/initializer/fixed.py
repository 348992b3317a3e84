"""Initializers whose values are given: Constant and Assign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.strictness import tolerate
from engine.core.values.bfloat import converted
from engine.eager.tensor import Tensor
from engine.nn.initializer.base import Initializer
from engine.program.graph.program import Block
from engine.tensor.creation import to_tensor
from engine.tensor.tensor_like import AnyTensor


class Constant(Initializer):
    """One value everywhere."""

    def __init__(self, value: float = 0.0) -> None:
        if value is None:
            raise ArgumentError("Constant: value must be a number: got None; pass e.g. 0.0")
        self._value = value

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        return np.full(shape, self._value)


class Assign(Initializer):
    """The values of an array, list or Tensor.

    As in Paddle the parameter gets their shape where it is another one, with a LeniencyWarning.
    """

    def __init__(self, value: np.ndarray[Any, Any] | Sequence[Any] | Tensor, name: str | None = None) -> None:
        if not isinstance(value, (np.ndarray, list, tuple, Tensor)):
            raise DTypeError(
                f"Assign: value must be a numpy array, list, tuple or Tensor: got {type(value).__name__}"
            )
        self._value = value.numpy() if isinstance(value, Tensor) else np.array(value)

    def forward(self, param: AnyTensor, block: Block | None = None) -> None:
        values = converted(np, self.sample(tuple(param.shape)), param.dtype)
        if values.shape == tuple(param.shape):
            param.set_value(values)
        else:
            given: Any = param  # ``data`` is attached
            given.data = to_tensor(values)

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        if self._value.shape != shape:
            tolerate(
                ShapeError(
                    f"Assign: the value has shape {list(self._value.shape)}: the parameter {list(shape)}; "
                    "reshape it"
                )
            )
        return self._value
