"""Gradients of one operator of a Program: its rules applied in the current mode to Variables.

Nothing here knows Variables themselves: the operator's inputs and outputs only need a ``spec``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from engine.autodiff.vjp import input_gradients, undo_broadcast
from engine.core.attached import Attached
from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.ops.arrays import creation, index
from engine.ops.control import with_values


class Symbolic:
    """An operator of a Program as its gradient rules see it."""

    __slots__ = ("attrs", "opdef", "operator", "outputs")

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.opdef = operator.opdef
        self.attrs = operator.attrs
        self.outputs = list(operator.outputs)

    def input(self, n: int) -> Any:
        return self.operator.inputs[n]

    input_spec = input

    def output(self, n: int) -> Any:
        return self.outputs if self.opdef.listed else self.outputs[n]

    def zero_gradient(self, n: int) -> Any:
        return creation.fill_like(self.outputs[n], value=0.0)

    def unbroadcast(self, n: int, gradient: Attached) -> Any:
        variable = self.operator.inputs[n]
        gradient = undo_broadcast(gradient, variable.spec.shape)
        return index.sum_to_like(gradient, variable) if self._may_have_stretched(variable) else gradient

    def _may_have_stretched(self, variable: Any) -> bool:
        """Whether an unknown dimension of ``variable`` can be 1 in a run and broadcast to a larger one."""
        others = [v.spec.shape for _, _, v in flat_inputs(self.operator) if v is not variable]
        if "shape" in self.attrs:  # expand: the attribute stretches it, not another input
            others += [v.spec.shape for v in self.outputs]
        for back, size in enumerate(reversed(variable.spec.shape), 1):
            if size == -1 and any(len(other) >= back and other[-back] != 1 for other in others):
                return True
        return False


def flat_inputs(operator: Operator) -> Iterator[tuple[str, int | None, Any]]:
    """The inputs in a row, those of lists one by one: the input's name, the place in its list, the value."""
    for declared, value in operator.opdef.named_inputs(operator.inputs):
        if isinstance(value, (list, tuple)):
            for place, each in enumerate(value):
                yield declared.name, place, each
        elif value is not None:
            yield declared.name, None, value


def operator_gradients(operator: Operator, grads: Sequence[Any], targets: Sequence[int]) -> list[Any]:
    """Emit the gradients of the inputs at ``targets`` (positions in ``flat_inputs``), None for zero.

    ``grads`` holds the gradient of every output, None where nothing flows back.
    """
    places = list(flat_inputs(operator))
    wanted = frozenset(places[n][0] for n in targets)
    opdef = operator.opdef
    found = input_gradients(Symbolic(operator), [list(grads)] if opdef.listed else grads, wanted)
    results = []
    for name, place, _ in (places[n] for n in targets):
        value = found[opdef.index_of[name]]
        results.append(value if place is None or value is None else value[place])
    return results


@with_values.gradients_of.define
def gradients_of(
    opdef: OpDef, inputs: Sequence[Any], attrs: dict[str, Any], outputs: Sequence[Any], grads: Sequence[Any]
) -> list[Any]:
    """The gradients of an operator's inputs by position, those of a list in a list; None is left for none."""
    operator = Operator(opdef, inputs, attrs)
    operator.outputs = tuple(outputs)
    trained = {name for name, _, v in flat_inputs(operator) if not v.stop_gradient}
    wanted = frozenset(name for name in trained if opdef.differentiable_by(name))
    found = input_gradients(Symbolic(operator), [list(grads)] if opdef.listed else grads, wanted)
    result: list[Any] = []
    for value, gradient in zip(operator.inputs, found, strict=True):
        if isinstance(value, (list, tuple)):
            result.append([None] * len(value) if gradient is None else gradient)
        elif value is not None:
            result.append(gradient)
    return result
