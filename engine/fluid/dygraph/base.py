"""``guard``, ``to_variable`` and what else switches fluid's eager mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.base.dygraph import base as modern
from engine.core.errors import DTypeError, ModeError
from engine.eager.tensor import Tensor
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.values.variable import as_variable
from engine.framework import disable_static, enable_static, in_dynamic_mode
from engine.program.graph.variable import Variable as StaticVariable
from engine.program.run.executor import Program, program_guard


@contextmanager
def guard(place: Any = None) -> Iterator[None]:
    """Within the block operators compute at once on ``place``, the default one where it is None.

    A guard has names counted from 0, Programs of its own and a tracer: which parameters ``minimize`` updates
    and whether ``train()`` or ``eval()`` holds belongs to it. Raises DeviceError for a place that can't be
    used here.
    """
    with program_guard(Program(), Program()), modern.guard(place), tracers.use(tracers.Tracer()):
        yield


def enabled() -> bool:
    """Whether operators compute at once."""
    return in_dynamic_mode()


def enable_dygraph(place: Any = None) -> None:
    """Compute at once from here on, as within a ``guard`` that does not end."""
    if not enabled() or tracers.current() is None:
        tracers.switch(tracers.Tracer())
    disable_static(place)


def disable_dygraph() -> None:
    """Append operators to the default main Program from here on."""
    tracers.switch(None)
    enable_static()


def to_variable(value: Any, block: Any = None, name: str | None = None, **options: Any) -> Any:
    """A Variable of a copy of ``value``, an array (from 1.8 on also a list or a number), of its dtype.

    A Variable is given back as it is. ``block`` is not used; from 1.7 on ``name`` is the second argument.
    ``stop_gradient`` of the result is True.

    Raises ModeError outside of a guard, DTypeError for another type.
    """
    if isinstance(block, str):
        block, name = None, block
    if isinstance(value, (Tensor, StaticVariable)):
        return value
    if not enabled():
        raise ModeError(
            "to_variable: works in eager mode: static mode is on; use it within `with fluid.dygraph.guard():`"
        )
    if not isinstance(value, (np.ndarray, np.generic, list, tuple, int, float, bool)):
        raise DTypeError(
            "to_variable: to_variable only accepts 'ndarray' and 'Variable' as value's input: got "
            f"{type(value).__name__}; make it a NumPy array"
        )
    array = np.asarray(value)
    return as_variable(
        modern.to_variable(array.reshape(1) if array.ndim == 0 else array, name=name, **options)
    )
