"""The eager Variable of fluid, and the form in which fluid's functions give results back.

Values of fluid have one dimension at least: ``mean`` gives shape [1], whose gradient prints as ``[1.]``.
Every Variable takes attributes of any name, is true in a condition unless it is a single zero, and has a
gradient after ``backward()`` also where an operator computed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.operators.operator import Leaf
from engine.eager.backward import backward
from engine.eager.tensor import Tensor, new
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.values.one_element import convertible
from engine.program.graph.program import Block
from engine.program.run.executor import default_main_program
from engine.tensor.arguments.promote import EAGER, PLAIN
from engine.tensor.manipulation import reshape
from engine.tensor.members.operators import OPERATORS


class Variable(Tensor):
    """A Tensor with the habits of fluid's Variables; results of ``fluid.layers`` and ``to_variable``.

    ``backward()`` frees the whole graph, as fluid clears its tape; ``gradient()`` gives a NumPy array.
    """

    _given = False  # whether its gradient is recorded though it shows stop_gradient=True

    def backward(self, backward_strategy: Any = None, retain_graph: bool = False) -> None:
        """Add the gradients of this value to those of the parameters and values that it depends on.

        ``backward_strategy`` is fluid's BackwardStrategy: sums are always taken in one order here. From
        fluid 1.8 on the first argument is ``retain_graph``. Raises the errors of ``Tensor.backward``.
        """
        if isinstance(backward_strategy, bool):
            retain_graph = backward_strategy
        tracer = tracers.current()
        if tracer is not None and not tracer.prepare(self):
            return
        backward([self], None, retain_graph)

    def gradient(self) -> np.ndarray[Any, Any] | None:
        """The gradient as a NumPy array of this value's shape, or None before ``backward()``."""
        tracer = tracers.current()
        found = self.grad if tracer is None else tracer.gradient(self)
        return None if found is None else convertible(found.numpy())

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Set the gradient to zeros, also that of a value that an operator computed; none stays none."""
        tracer = tracers.current()
        if tracer is None or not tracer.clear_gradient(self):
            super().clear_gradient(set_to_zero)

    def numpy(self) -> np.ndarray[Any, Any]:
        """A NumPy array of the value. One of shape [1] converts to a number: ``float(loss.numpy())``."""
        return convertible(super().numpy())

    def __bool__(self) -> bool:
        # In fluid a Variable had no truth value, so `if label:` asked whether there is one.
        return True if self._array.size != 1 else bool(self._array.item())

    lod_level = 0

    @property
    def block(self) -> Block:
        """The block of the guard's Program, of which the value is not a part."""
        return default_main_program().global_block()

    def to_string(self, throw_on_error: bool, with_details: bool = False) -> str:
        """The text that ``print`` shows."""
        return str(self)

    @property
    def stop_gradient(self) -> bool:
        """False where operators on the value are recorded for ``backward``.

        True for a value of ``to_variable``, although it has a gradient in a guard without Layers.
        """
        return self._edge is None or self._given

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        given, self._given = self._given, False
        if given and value:
            self._edge = None
        else:
            Tensor.stop_gradient.__set__(self, value)

    @property
    def _stop_gradient(self) -> bool:
        return self.stop_gradient

    @_stop_gradient.setter
    def _stop_gradient(self, value: bool) -> None:
        self.stop_gradient = value


_EAGER = (Tensor, Variable)


def result(value: Any) -> Any:
    """What a function of fluid gives back for ``value``: Variables of one dimension or more, in lists too.

    In a guard that trains, a floating result always has a gradient: as in fluid 1.5, also where no input has
    one (it is then a leaf).
    """
    if isinstance(value, dict):
        return {key: result(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        made_of = map(result, value)
        return type(value)(*made_of) if hasattr(value, "_fields") else type(value)(made_of)
    if getattr(value, "shape", None) is not None and len(value.shape) == 0:
        value = reshape(value, [1])
    made = as_variable(value)
    if made.__class__ is Variable and made._edge is None and _starts_a_graph(made):
        made._edge = Leaf(made._array.shape)
    return made


def _starts_a_graph(value: Variable) -> bool:
    tracer = tracers.current()
    return tracer is not None and tracer.training and modes.current().grad and value._array.dtype.kind == "f"


def as_variable(value: Any) -> Any:
    """A Tensor as a Variable that shares its data and its place in the graph; other values as they are."""
    if value.__class__ is not Tensor:
        return value
    made = new(Variable)
    made._array, made._version, made._edge = value._array, value._version, value._edge
    for slot in ("_name", "_persistable", "_parked", "_retained"):
        if hasattr(value, slot):
            setattr(made, slot, getattr(value, slot))
    return made


def _giving_variables(method: Callable[..., Any]) -> Callable[..., Any]:
    def operator(self: Variable, *operands: Any) -> Any:
        found = method(self, *operands)
        return found if found is NotImplemented else result(found)

    return operator


def _iterate(self: Variable) -> Iterator[Any]:
    return map(result, OPERATORS["__iter__"](self))


PLAIN.add(Variable)
EAGER.add(Variable)
for _name, _method in OPERATORS.items():
    if _name not in ("__setitem__", "__iter__"):
        setattr(Variable, _name, _giving_variables(_method))
Variable.__iter__ = _iterate  # type: ignore[method-assign]
