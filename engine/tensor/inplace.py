"""Changing a tensor in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ConversionError, EngineError, GradientError, ShapeError
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
    """In a Program values do not change: from here on the name stands for the new value.

    A tensor from outside of a converted function gets its value when the Program has run.
    """
    builder = current_builder()
    assert builder is not None, "symbolic values exist only while a Program is built"
    if isinstance(x, Tensor):
        if builder.assigned is None:
            error: EngineError = ConversionError(
                f"{where}: {x.name!r} lives outside of the Program and can't be changed in place in it; "
                "return the new value, or write it with assign(value, output)"
            )
            raise located(error, user_frame())
        if x._edge is not None:
            error = GradientError(
                f"{where}: {x.name!r} is a tensor with stop_gradient=False, backward needs its value; "
                "change it outside of the converted function under no_grad(), or use a new tensor"
            )
            raise located(error, user_frame())
    if -1 not in value.shape and -1 not in x.shape and tuple(value.shape) != tuple(x.shape):
        error = ShapeError(
            f"{where}: an in-place change keeps the shape: {list(x.shape)} would become "
            f"{list(value.shape)}; use the form without _"
        )
        raise located(error, user_frame())
    if value.dtype is not x.dtype:
        value = math.cast(value, out_dtype=x.dtype.name)
    builder.rebind(x, value)
    return x


def inplace(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The form with a trailing underscore of ``function``."""

    def changed(x: Any, *args: Any, **kwargs: Any) -> Any:
        return replace(name, x, function(x, *args, **kwargs))

    changed.__name__ = changed.__qualname__ = name
    changed.__doc__ = f"In place: {function.__doc__}"
    return changed
