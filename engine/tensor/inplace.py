"""Changing a tensor in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ConversionError, GradientError, ShapeError
from engine.core.operator import Leaf
from engine.eager.tensor import Tensor, write
from engine.ops import math
from engine.program.builder import current_builder, located, user_frame


def replace(where: str, x: Any, value: Any) -> Any:
    """Make ``x`` hold ``value``, computed from it by recorded operators; gradients flow through the change.

    Raises GradientError for a leaf that backward needs, ShapeError where the shape would change.
    """
    if modes.is_symbolic(x) or modes.is_symbolic(value):
        return _rebind(where, x, value)
    if value._array.shape != x._array.shape:
        raise ShapeError(
            f"{where}: an in-place change keeps the shape: {x.shape} would become {value.shape}; "
            "use the form without _"
        )
    if value._array.dtype != x._array.dtype:
        value = math.cast(value, out_dtype=x.dtype.name)
    recording = modes.current().grad
    if recording and x._edge.__class__ is Leaf:
        raise GradientError(
            f"{where}: {x.name!r} is a leaf with stop_gradient=False, backward needs its value; "
            "change it under no_grad(), or use the form that returns a new tensor"
        )
    write(x, value._array)
    if recording:
        x._edge = value._edge
    return x


def _rebind(where: str, x: Any, value: Any) -> Any:
    """In a Program values do not change: from here on the name stands for the new value."""
    builder = current_builder()
    if builder is None or builder.block.idx != 0:
        raise ConversionError(
            f"{where}: a tensor is changed in place inside a branch or loop of a Program; "
            "assign the result to a name instead"
        )
    if isinstance(x, Tensor):
        error = ConversionError(
            f"{where}: {x.name!r} lives outside of the Program and can't be changed in place in it; return "
            "the new value, or keep it in a buffer of a Layer and assign that"
        )
        raise located(error, user_frame())
    builder.rebind(x, value)
    return x


def inplace(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The form with a trailing underscore of ``function``."""

    def changed(x: Any, *args: Any, **kwargs: Any) -> Any:
        return replace(name, x, function(x, *args, **kwargs))

    changed.__name__ = changed.__qualname__ = name
    changed.__doc__ = f"In place: {function.__doc__}"
    return changed
