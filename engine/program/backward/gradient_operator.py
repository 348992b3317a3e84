"""The ``gradient`` operator, one gradient of one operator: created, read, and replaced by the operators that
a plan runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.autodiff.symbolic import operator_gradients
from engine.core import mode as modes
from engine.core import names
from engine.core.containers.identity import IdentityMap
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.ops.arrays import creation, shape
from engine.ops.control.gradient import gradient
from engine.program.build.builder import Builder
from engine.program.graph.program import Block, Program, Variable, variables_of

GRADIENT = gradient.opdef


def gradient_operator(
    forward: Operator,
    incoming: Sequence[Variable | None],
    targets: Sequence[int],
    results: Sequence[Variable],
) -> Operator:
    """The operator that writes into ``results`` the gradients of the inputs at ``targets``.

    ``incoming`` holds the gradient of every output of ``forward``, None where nothing flows back;
    ``targets`` are positions among the inputs in a row.
    """
    attrs = {
        "of": forward.opdef.name,
        "attrs": dict(forward.attrs),
        "inputs": [
            None if v is None else len(v) if isinstance(v, (list, tuple)) else -1 for v in forward.inputs
        ],
        "outputs": [v is not None for v in forward.outputs],
        "given": [g is not None for g in incoming],
        "targets": list(targets),
    }
    made = Operator(
        GRADIENT,
        (
            list(variables_of(forward.inputs)),
            list(variables_of(forward.outputs)),
            [g for g in incoming if g is not None],
        ),
        attrs,
    )
    made.outputs = tuple(results)
    made.take_place(forward)
    return made


def forward_of(operator: Operator) -> tuple[Operator, list[Variable | None]]:
    """The operator whose gradient this is, and the gradients of its outputs."""
    attrs = operator.attrs
    xs, outs, gs = (list(v) for v in operator.inputs)
    inputs: list[Any] = []
    for count in attrs["inputs"]:
        if count is None:
            inputs.append(None)
        elif count < 0:
            inputs.append(xs.pop(0))
        else:
            inputs.append([xs.pop(0) for _ in range(count)])
    made = Operator(OPS[attrs["of"]], tuple(inputs), attrs["attrs"])
    made.outputs = tuple(outs.pop(0) if there else None for there in attrs["outputs"])
    made.take_place(operator)
    return made, [gs.pop(0) if given else None for given in attrs["given"]]


def lowered(program: Program, ops: Sequence[Operator]) -> list[Operator]:
    """``ops`` with the operators of rules in place of gradient operators; they write the same Variables."""
    return [made for each in lowered_each(program, ops) for made in each]


def lowered_each(program: Program, ops: Sequence[Operator]) -> list[list[Operator]]:
    """For each of ``ops`` what takes its place: see :func:`lowered`."""
    if not any(o.opdef is GRADIENT for o in ops):
        return [[operator] for operator in ops]
    with names.guard():
        return [_expanded(program, o) if o.opdef is GRADIENT else [o] for o in ops]


class _Scratch(Block):
    """Collects operators outside the Program, which does not change."""

    def append(self, operator: Operator) -> Operator:
        self.ops.append(operator)
        return operator


def _expanded(program: Program, operator: Operator) -> list[Operator]:
    scratch = _Scratch(program, 0, -1)
    forward, incoming = forward_of(operator)
    targets = operator.attrs["targets"]
    with modes.use(Builder(program, block=scratch)):
        found = operator_gradients(forward, incoming, targets)
        written: IdentityMap[Variable, Variable] = IdentityMap()  # the replacement of each scratch Variable
        copies: list[tuple[Variable, Variable]] = []
        for target, result, value in zip(targets, operator.outputs, found, strict=True):
            if value is None:
                value = creation.fill_like(operator.inputs[0][target], value=0.0)
            if value.block is scratch and value not in written:
                written[value] = result
            else:  # it is an incoming gradient itself, or the gradient of two inputs
                copies.append((result, value))
        for result, value in copies:
            alias = shape.detach(written.get(value, value))
            written[alias] = result
    for made in scratch.ops:
        made.inputs = _replaced(made.inputs, written)
        made.outputs = _replaced(made.outputs, written)
        made.take_place(operator)
    return scratch.ops


def _replaced(value: Any, written: IdentityMap[Variable, Variable]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_replaced(v, written) for v in value)
    return written.get(value, value)
