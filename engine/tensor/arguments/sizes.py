"""Arguments that are integers or shapes: ints, tensors, and values that only the running Program knows."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError
from engine.eager.tensor import Tensor
from engine.ops.elementwise import arithmetic
from engine.program.graph.unknown import Unknown, known_operand
from engine.tensor.tensor_like import IntegerLike, IntegersLike, ShapeLike


def whole(where: str, value: IntegerLike) -> Any:
    """``value`` as an int, or the Variable of one; raises DTypeError for any other value."""
    if value.__class__ is int:
        return value
    found: Any = known_operand(value)
    if modes.is_symbolic(found) and found.dtype.is_integer:
        return found
    if isinstance(found, Tensor):
        found = found.item()
    if isinstance(found, (float, np.floating)) or modes.is_symbolic(found):
        raise DTypeError(f"{where}: needs an integer: got {found!r}; use an int or an integer tensor")
    try:
        return operator.index(found)
    except TypeError:
        raise DTypeError(
            f"{where}: needs integers: got {type(found).__name__}; use ints or integer tensors"
        ) from None


def whole_part(where: str, value: object) -> Any:
    """Like ``whole``, of floating numbers too, which lose their fraction, as in Paddle."""
    if value.__class__ is int:
        return value
    found = number_of(value)
    if modes.is_symbolic(found) and found.dtype.is_floating_point:
        return arithmetic.cast(found, out_dtype="int64")
    return int(found) if isinstance(found, float) else whole(where, found)


def whole_sizes(shape: ShapeLike) -> Any:
    """A shape whose Tensors of floating numbers lose their fractions, as in Paddle's random functions."""
    if isinstance(shape, Tensor) and shape.dtype.is_floating_point:
        return [int(size) for size in shape.reshape([-1]).tolist()]
    if isinstance(shape, (list, tuple)):
        return [int(s) if isinstance(s, Tensor) and s.dtype.is_floating_point else s for s in shape]
    return shape


def number_of(value: object) -> Any:
    """A Python number, or the Variable that will hold one; other values are returned unchanged."""
    found = known_operand(value)
    if modes.is_symbolic(found):
        return found
    return found.item() if isinstance(found, (Tensor, np.ndarray, np.generic)) else found


def integers(where: str, values: IntegersLike) -> list[Any]:
    """A list of ints (or Variables) from one or several numbers, or from a tensor of them."""
    if isinstance(values, Tensor):
        values = values.tolist()
    elif modes.is_symbolic(values):
        values = items(where, values)
    if isinstance(values, (list, tuple, range)):
        return [v if v.__class__ is int else whole(where, v) for v in values]
    if isinstance(values, np.ndarray):
        return [whole(where, v) for v in values.reshape(-1)]
    return [whole(where, values)]


def is_later(value: object) -> bool:
    """True for a number that only the running Program knows."""
    return isinstance(value, Unknown) or modes.is_symbolic(value)


def items(where: str, values: IntegersLike | ShapeLike) -> list[Any]:
    """The numbers of a shape one by one; those of a Variable that holds a shape are Variables."""
    if isinstance(values, Tensor):
        found = values.tolist()
        return found if isinstance(found, list) else [found]
    if modes.is_symbolic(values):
        variable: Any = values
        if variable.ndim == 0:
            return [variable]
        if variable.ndim != 1 or variable.shape[0] == -1:
            raise ArgumentError(
                f"{where}: a shape must be a tensor of one dimension with a known length: got {variable.spec}"
            )
        return [variable[n] for n in range(variable.shape[0])]
    if isinstance(values, np.ndarray):
        return values.reshape(-1).tolist()
    return list(values) if isinstance(values, (list, tuple, range)) else [values]


def split_later(where: str, values: IntegersLike | ShapeLike) -> tuple[list[int], list[Any]]:
    """The shape with -1 where a number is known only later, and those numbers as Variables."""
    if isinstance(values, (list, tuple)) and all(v.__class__ is int for v in values):
        return list(values), []
    found = items(where, values)
    later = [known_operand(v) for v in found if is_later(v)]
    return [-1 if is_later(v) else whole(where, v) for v in found], later


def check_shape(
    shape: ShapeLike,
    op_name: str,
    expected_shape_type: object = None,
    expected_element_type: object = None,
    expected_tensor_dtype: object = None,
) -> None:
    """Raise DTypeError or ArgumentError where ``shape`` is none: a list of ints or a tensor, none negative.

    The last three are Paddle's way to request it; they are ignored.
    """
    dimensions(op_name, shape)


def dimensions(where: str, shape: ShapeLike) -> dict[str, Any]:
    """``shape`` and ``dims`` of an operator that creates a tensor; raises ArgumentError for a negative
    one."""
    sizes, later = split_later(where, shape)
    if any(d < 0 for d in sizes) and sizes.count(-1) + sum(d < -1 for d in sizes) > len(later):
        raise ArgumentError(f"{where}: shape {sizes} has a negative dimension; give every size")
    return {"shape": sizes, "dims": later} if later else {"shape": sizes}
