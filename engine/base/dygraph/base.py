"""``guard`` and ``to_variable``: eager mode for a block of code, and arrays as Tensors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core import names
from engine.core.errors import DTypeError, ModeError
from engine.core.place import PlaceLike, current_place, place_guard
from engine.eager.mode import RECORDING
from engine.eager.tensor import Tensor
from engine.program.build.builder import current_builder
from engine.program.graph.program import Variable
from engine.tensor.creation import to_tensor
from engine.tensor.tensor_like import AnyTensor, DTypeLike


@contextmanager
def guard(place: PlaceLike | None = None) -> Iterator[None]:
    """Within the block operators compute at once, on ``place`` where given, and names are counted from 0.

    Raises DeviceError for a place that can't be used here.
    """
    with place_guard(current_place() if place is None else place), names.guard(), modes.use(RECORDING):
        yield


def to_variable(
    value: AnyTensor | np.ndarray[Any, Any] | list[Any] | tuple[Any, ...],
    name: str | None = None,
    zero_copy: bool | None = None,
    dtype: DTypeLike | None = None,
) -> Any:
    """A Tensor of a copy of ``value``: a NumPy array, list or tuple; a Tensor as it is.

    Unlike ``to_tensor``, a list of Python floats becomes what NumPy makes of it, float64. As in Paddle,
    ``zero_copy`` is not followed.

    Raises ModeError in static mode, DTypeError for another type.
    """
    if isinstance(value, Tensor | Variable):
        return value
    builder = current_builder()
    if builder is not None and builder.startup is not None:
        raise ModeError("to_variable: works in eager mode: static mode is on; call disable_static()")
    if not isinstance(value, list | tuple | np.ndarray):
        raise DTypeError(
            f"to_variable: value must be a NumPy array, list, tuple or Tensor: got {type(value).__name__}"
        )
    made = to_tensor(np.array(value), dtype=dtype)
    if name:
        made.name = name
    return made
