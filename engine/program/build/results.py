"""Makes the Variables that an operator writes."""

from __future__ import annotations

from typing import Any, Protocol

from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.ops.control.with_values import with_values
from engine.program.graph.program import Block, Program, variables_of
from engine.program.text.naming import Calls
from engine.program.text.record import Record


class Building(Protocol):
    """What is used of a Builder."""

    calls: Calls
    block: Block
    grad: bool
    startup: Program | None


def make_results(builder: Building, operator: Operator, specs: tuple[Spec | None, ...]) -> list[Any]:
    """The outputs of ``operator``; None for an output that its attributes switch off."""
    opdef = operator.opdef
    outputs: list[Any] = [None] * len(specs)
    positions: dict[str, int] = {}  # by slot; outputs of a list are numbered
    wanted: dict[str, Spec] = {}
    for n, spec in enumerate(specs):
        declared = opdef.outputs[min(n, len(opdef.outputs) - 1)]
        if spec is None:
            continue
        outputs[n] = operator.replaced(n)
        if outputs[n] is None:
            slot = f"{declared.slot} {n}" if opdef.listed else declared.slot
            positions[slot], wanted[slot] = n, spec
    record = Record(
        builder.calls,
        builder.block,
        operator,
        wanted,
        stop=has_no_gradient(builder, operator),
        grad=builder.grad,
        operands=builder.startup is not None,
    )
    for slot, variable in record.results():
        outputs[positions[slot]] = variable
    record.finish()
    return outputs


def has_no_gradient(builder: Building, operator: Operator) -> bool:
    """Whether gradients end at ``operator``: none are wanted, or no rule leads to an input that has one."""
    return not builder.grad or ends_gradient(operator)


def ends_gradient(operator: Operator) -> bool:
    """Whether no rule leads to an input of ``operator`` that has a gradient."""
    opdef = operator.opdef
    if opdef is with_values.opdef and not OPS[operator.attrs["of"]].differentiable:
        return True
    return not opdef.differentiable or all(
        variable.stop_gradient
        for name, value in zip(opdef.input_names, operator.inputs, strict=True)
        if opdef.differentiable_by(name)
        for variable in variables_of(value)
    )
