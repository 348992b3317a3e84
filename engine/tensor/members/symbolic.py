"""Python's operators on Variables where Paddle builds them from other operators than its functions do.

``methods.py`` attaches them to Variable in place of those that Tensor has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.values.dtype import DType, float32
from engine.ops.arrays import creation
from engine.program.build.builder import current_builder
from engine.program.build.calls import names_results
from engine.program.graph.variable import Variable
from engine.tensor import math
from engine.tensor.members.operators import OPERATORS, python_operator
from engine.tensor.tensor_like import DTypeLike, TensorLike

_NUMBERS = (int, float, np.integer, np.floating)
_over = OPERATORS["__truediv__"]
_as_operator = names_results(form="tmp", outer=True)


@_as_operator
def astype(self: Variable, dtype: DTypeLike) -> Any:
    """The Variable in another dtype."""
    return math.cast(self, dtype)


@_as_operator
def power(self: Variable, other: TensorLike) -> Any:
    """``x ** number``: computed with the number, written as Paddle does, with a Variable that holds it."""
    if isinstance(other, bool) or not isinstance(other, _NUMBERS) or not self.dtype.is_floating_point:
        return math.pow(self, other)
    number = _number(float(other), [], self.dtype)
    made = math.pow(self, float(other))
    operator = _builder_ops()[-1]
    operator.note("type", "elementwise_pow")
    operator.note("inputs", {"Y": [number.name]})
    operator.note("instead", {"axis": -1})
    return made


@_as_operator
def over(self: Variable, other: TensorLike) -> Any:
    """``x / number``; integers are cast first."""
    if isinstance(other, _NUMBERS) and self.dtype.is_integer:
        return _over(math.cast(self, float32), other)
    return _over(self, other)


@_as_operator
def divided_by(self: Variable, other: TensorLike) -> Any:
    """``number / x``, the number in the shape of x where that is known."""
    if isinstance(other, bool) or not isinstance(other, _NUMBERS) or not self.dtype.is_floating_point:
        return math.divide(other, self)
    dims = list(self.spec.shape) if self.spec.known else []
    return math.divide(_number(float(other), dims, self.dtype), self)


def keeping_numbers(operator: Callable[..., Any]) -> Callable[..., Any]:
    """An operator whose result stands for a Python number where both operands do."""

    def method(self: Variable, *other: Any) -> Any:
        made = operator(self, *other)
        if self.number is not None and isinstance(made, Variable) and all(map(_is_number, other)):
            made.number = number_like(made)
        return made

    return method


def number_like(value: Variable) -> float:
    """The Python number of a dtype's kind, 0."""
    return 0.0 if value.dtype.is_floating_point else False if value.dtype.name == "bool" else 0


def _is_number(value: object) -> bool:
    return value.__class__ in (int, float) or getattr(value, "number", None) is not None


def _number(value: float, dims: list[int], dtype: DType) -> Any:
    return creation.fill(shape=dims, value=value, dtype=dtype.name)


def _builder_ops() -> Any:
    builder = current_builder()
    assert builder is not None, "Variables are computed with while a Program is built"
    return builder.block.ops


METHODS: dict[str, Callable[..., Any]] = {
    "__neg__": python_operator(math.neg),
    "__pow__": power,
    "__rtruediv__": divided_by,
    "__truediv__": over,
    "astype": astype,
}
