"""Adds the operators that compute gradients to a Program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.autodiff.vjp import Applied, input_gradients, undo_broadcast
from engine.core.errors import GradientError
from engine.core.operator import Operator
from engine.ops.arrays import index, shape
from engine.program.backward.control import CONTROL_GRADIENTS
from engine.program.backward.gradient_ops import may_have_stretched
from engine.program.graph.program import Block, Variable, reads, variables_of, writes


def depends_on(ops: Sequence[Operator], sources: set[int]) -> set[int]:
    """The ids of all Variables whose value depends on ``sources`` (ids) through ``ops``, differentiably."""
    reached = set(sources)
    for operator in ops:
        if operator.opdef.rules or operator.opdef.name in CONTROL_GRADIENTS:
            if any(id(v) in reached for v in reads(operator)):
                reached |= {id(v) for v in writes(operator) if not v.stop_gradient}
                if operator.opdef.name == "while" and operator.attrs["steps"]:
                    reached.add(id(operator.outputs[0].block.var(operator.attrs["steps"])))
    return reached


def gradients_in_block(
    block: Block, ops: Sequence[Operator], grads: dict[int, Any], sources: Sequence[Variable]
) -> list[Any]:
    """Append to the current block the gradients of ``sources`` given those of later Variables.

    ``grads`` maps ids of Variables to their gradient Variables and is extended on the way; ``ops`` are the
    forward operators, in order. Returns one gradient a source, None for one that is not reached.
    """
    reached = depends_on(ops, {id(s) for s in sources})
    for operator in reversed(ops):
        outputs = list(operator.outputs)
        incoming = [None if v is None else grads.get(id(v)) for v in outputs]
        if all(g is None for g in incoming) or not any(id(v) in reached for v in reads(operator)):
            continue
        special = CONTROL_GRADIENTS.get(operator.opdef.name)
        if special is not None:
            for variable, gradient in special(operator, incoming, reached):
                _add(grads, variable, gradient)
            continue
        for variable, gradient in _operator_gradients(operator, outputs, incoming, reached):
            _add(grads, variable, gradient)
    return [grads.get(id(s)) for s in sources]


def _add(grads: dict[int, Any], variable: Variable, gradient: Any) -> None:
    before = grads.get(id(variable))
    grads[id(variable)] = gradient if before is None else before + gradient


def _operator_gradients(
    operator: Operator, outputs: list[Variable], incoming: list[Any], reached: set[int]
) -> list[tuple[Variable, Any]]:
    opdef = operator.opdef
    if any(o.writes and g is not None for o, g in zip(opdef.outputs, incoming, strict=False)):
        raise GradientError(f"{opdef.name}: a gradient flows back through a value that it replaces in place")
    wanted = frozenset(
        name
        for name, value in zip(opdef.input_names, operator.inputs, strict=True)
        if name in opdef.rule_of
        and any(id(v) in reached and not v.stop_gradient for v in variables_of(value))
    )
    if not wanted:
        return []
    listed = opdef.listed
    grads: list[Any] = [incoming] if listed else incoming

    applied = Applied(
        opdef,
        operator.attrs,
        input=lambda n: operator.inputs[n],
        output=lambda n: outputs if listed else outputs[n],
        input_spec=lambda n: operator.inputs[n],
        zero_gradient=lambda n: shape.fill_like(outputs[n], value=0.0),
    )
    named = input_gradients(applied, grads, wanted)
    result: list[tuple[Variable, Any]] = []
    for name, gradient in named.items():
        value = operator.inputs[opdef.index_of[name]]
        pairs = zip(value, gradient, strict=True) if isinstance(value, list) else [(value, gradient)]
        for variable, each in pairs:
            if each is None or variable.stop_gradient:
                continue
            if opdef.broadcasts:
                each = undo_broadcast(each, variable.spec.shape)
                if may_have_stretched(operator, variable):
                    each = index.sum_to_like(each, variable)
            result.append((variable, each))
    return result
