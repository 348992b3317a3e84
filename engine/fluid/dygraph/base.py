"""``guard``, ``to_variable`` and what else switches fluid's eager mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.base.dygraph import base as modern
from engine.base.dygraph import grad as modern_grad
from engine.base.dygraph import no_grad as no_grad
from engine.core.errors import DTypeError, ModeError
from engine.core.operators.operator import Leaf
from engine.core.place import CPUPlace, PlaceLike, current_place
from engine.eager.tensor import Tensor
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.dygraph.backward_strategy import BackwardStrategy
from engine.fluid.values.variable import Variable, as_variable
from engine.framework import disable_static, enable_static, in_dynamic_mode
from engine.program.graph.variable import Variable as StaticVariable
from engine.program.run.executor import Program, program_guard
from engine.tensor.tensor_like import AnyTensor, DTypeLike


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


def to_variable(
    value: Any,
    block: Any = None,
    name: str | None = None,
    zero_copy: bool | None = None,
    dtype: DTypeLike | None = None,
) -> Any:
    """A Variable of a copy of ``value``, an array (from 1.8 on also a list or a number), of its dtype.

    A Variable is given back as it is. ``block`` is not used; from 1.7 on ``name`` is the second argument, and
    ``zero_copy`` the third: True shares the memory of an array on the CPU.

    ``stop_gradient`` of the result is True. In a guard without Layers the value has a gradient all the same,
    as in 1.5.

    Differs from Paddle: 1.7 and 1.8 share memory on the CPU unless ``zero_copy=False`` is given; before and
    after them, and on a GPU, the value is a copy, which a script that fills an array again relies on.

    Raises ModeError outside of a guard, DTypeError for another type.
    """
    if block is None or isinstance(block, (str, bool)):
        if isinstance(name, bool):  # (value, name, zero_copy)
            zero_copy, name = name, None
        name = block if isinstance(block, str) else name
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
    array = array.reshape(1) if array.ndim == 0 else array
    if zero_copy and dtype is None and isinstance(current_place(), CPUPlace):
        made = as_variable(Tensor(array, name=name))
    else:
        made = as_variable(modern.to_variable(array, name=name, dtype=dtype))
    tracer = tracers.current()
    if tracer is not None and tracer.records_inputs() and array.dtype.kind == "f":
        made._edge, made._given = Leaf(array.shape), True
    return made


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
    backward_strategy: BackwardStrategy | None = None,
) -> list[Any]:
    """Gradients of ``outputs`` with respect to ``inputs``, Variables; see ``paddle.grad``.

    ``backward_strategy`` has no effect: sums are always taken in one order here.
    """
    found = modern_grad(
        outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs, allow_unused, no_grad_vars
    )
    return [as_variable(each) for each in found]


class _OfAll(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor)


class VarBase(metaclass=_OfAll):
    """Any eager value to ``isinstance``; a call makes a Variable of ``value``, an array or a Variable."""

    def __new__(
        cls,
        value: AnyTensor | np.ndarray[Any, Any] | None = None,
        place: PlaceLike | None = None,
        persistable: bool = False,
        zero_copy: bool = False,
        name: str | None = None,
        stop_gradient: bool = True,
    ) -> Variable:
        array = value._array if isinstance(value, Tensor) else value
        made = Variable(array if zero_copy or array is None else np.array(array), name=name or None)
        made.persistable = persistable
        made.stop_gradient = stop_gradient
        return made
