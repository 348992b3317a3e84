"""Gradients of operators as operators of their own, and what a plan runs in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.autodiff.vjp import Applied, input_gradients, undo_broadcast
from engine.core import mode as modes
from engine.core import names
from engine.core.errors import GradientError
from engine.core.opdef import OPS
from engine.core.operator import Operator
from engine.ops.arrays import index, shape
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

    Raises GradientError where an output with a gradient replaced an input in place.
    """
    opdef = forward.opdef
    opdef.require_differentiable()
    if not opdef.listed and any(
        o.writes and g is not None for o, g in zip(opdef.outputs, incoming, strict=True)
    ):
        raise GradientError(f"{opdef.name}: a gradient flows back through a value that it replaces in place")
    attrs = {
        "of": opdef.name,
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
    made.code, made.instruction = forward.code, forward.instruction
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
    made.code, made.instruction = operator.code, operator.instruction
    return made, [gs.pop(0) if given else None for given in attrs["given"]]


def rule_gradients(forward: Operator, incoming: Sequence[Any], targets: Sequence[int]) -> list[Any]:
    """Apply, in the current mode, the rules of ``forward``: a gradient a target, None for zero."""
    opdef = forward.opdef
    places = _places(forward)
    wanted = frozenset(places[n][0] for n in targets)
    outputs = list(forward.outputs)
    applied = Applied(
        opdef,
        forward.attrs,
        input=lambda n: forward.inputs[n],
        output=lambda n: outputs if opdef.listed else outputs[n],
        input_spec=lambda n: forward.inputs[n],
        zero_gradient=lambda n: shape.fill_like(outputs[n], value=0.0),
    )
    found = input_gradients(applied, [list(incoming)] if opdef.listed else list(incoming), wanted)
    made = []
    for name, place, variable in (places[n] for n in targets):
        value = found.get(name)
        each = value if place is None or value is None else value[place]
        if each is not None and opdef.broadcasts:
            each = undo_broadcast(each, variable.spec.shape)
            if may_have_stretched(forward, variable):
                each = index.sum_to_like(each, variable)
        made.append(each)
    return made


def _places(forward: Operator) -> list[tuple[str, int | None, Variable]]:
    """Of each Variable among the inputs in a row: the input's name, its place in a list, itself."""
    found: list[tuple[str, int | None, Variable]] = []
    for declared, value in forward.opdef.named_inputs(forward.inputs):
        if isinstance(value, (list, tuple)):
            found += [(declared.name, n, v) for n, v in enumerate(value)]
        elif value is not None:
            found.append((declared.name, None, value))
    return found


def may_have_stretched(operator: Operator, variable: Variable) -> bool:
    """Whether an unknown dimension of ``variable`` may be 1 when it runs, and what it becomes larger."""
    others = [v.spec.shape for v in variables_of(operator.inputs) if v is not variable]
    if "shape" in operator.attrs:  # expand: no other input stretches it
        others += [v.spec.shape for v in variables_of(operator.outputs)]
    for back, size in enumerate(reversed(variable.spec.shape), 1):
        if size == -1 and any(len(other) >= back and other[-back] != 1 for other in others):
            return True
    return False


def lowered(program: Program, ops: Sequence[Operator]) -> list[Operator]:
    """``ops`` with the operators of rules in place of gradients; the same Variables are written."""
    if not any(o.opdef is GRADIENT for o in ops):
        return list(ops)
    made: list[Operator] = []
    with names.guard():
        for operator in ops:
            made += _expanded(program, operator) if operator.opdef is GRADIENT else [operator]
    return made


class _Scratch(Block):
    """Operators that are no part of the Program: it does not change."""

    def append(self, operator: Operator) -> Operator:
        self.ops.append(operator)
        return operator


def _expanded(program: Program, operator: Operator) -> list[Operator]:
    scratch = _Scratch(program, 0, -1)
    forward, incoming = forward_of(operator)
    with modes.use(Builder(program, block=scratch)):
        found = rule_gradients(forward, incoming, operator.attrs["targets"])
        stands: dict[int, Variable] = {}
        copies: list[tuple[Variable, Variable]] = []
        for target, result, value in zip(operator.attrs["targets"], operator.outputs, found, strict=True):
            if value is None:
                value = shape.fill_like(operator.inputs[0][target], value=0.0)
            if value.block is scratch and id(value) not in stands:
                stands[id(value)] = result
            else:
                copies.append((result, value))
        for result, value in copies:
            alias = shape.detach(stands.get(id(value), value))
            stands[id(alias)] = result
    for made in scratch.ops:
        made.inputs = _moved(made.inputs, stands)
        made.outputs = _moved(made.outputs, stands)
        made.code, made.instruction = operator.code, operator.instruction
    return scratch.ops


def _moved(value: Any, stands: dict[int, Variable]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(v, stands) for v in value)
    return stands.get(id(value), value)
