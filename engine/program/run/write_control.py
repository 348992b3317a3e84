"""Writes the branches and loops of a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from engine.core.operators.opdef import Applier, OpDef
from engine.core.operators.operator import Operator
from engine.ops.control import flow as ops
from engine.program.graph.liveness import reads_inside
from engine.program.graph.program import Block, Program, Variable, variables_of
from engine.program.graph.replay_state import iteration_state, state_in


class Writer(Protocol):
    """What a rule uses of the Writer, see ``engine/program/run/stages/write.py``."""

    program: Program
    metered: bool

    def slot(self, variable: Variable) -> str:
        """The name of a Variable."""

    def names(self, variables: Sequence[Variable]) -> list[str]:
        """The names of Variables."""

    def line(self, depth: int, text: str, operator: Operator | None = None) -> None:
        """Write a line, which runs ``operator``."""

    def assign(
        self, depth: int, targets: Sequence[Variable], sources: Sequence[Variable], operator: Operator
    ) -> None:
        """Give Variables the values of others, all at once."""

    def block(self, depth: int, block: Block) -> None:
        """Write the operators of a sub-block."""


Rule = Callable[[Writer, int, Operator], None]

CONTROL: dict[OpDef, Rule] = {}
"""The functions that write operators with regions into the source of a plan. They take the ``Writer``, the
depth of indentation and the operator."""


def writes(applier: Applier[..., Any]) -> Callable[[Rule], Rule]:
    """Decorator of the function that writes the operator that ``applier`` applies."""

    def decorate(function: Rule) -> Rule:
        CONTROL[applier.opdef] = function
        return function

    return decorate


@writes(ops.cond)
def write_cond(writer: Writer, depth: int, operator: Operator) -> None:
    """``if pred: ... else: ...``, each side ending with the results."""
    for region in operator.regions:
        for variable in state_in(region.block):
            writer.line(depth, f"{writer.slot(variable)} = None")
    pred = writer.slot(operator.inputs[0])
    for word, region in zip((f"if {pred}:", "else:"), operator.regions, strict=True):
        writer.line(depth, word, operator)
        writer.block(depth + 1, region.block)
        writer.assign(depth + 1, operator.outputs, region.results, operator)
        writer.line(depth + 1, "pass")


@writes(ops.while_loop)
def write_while(writer: Writer, depth: int, operator: Operator) -> None:
    """``while True:`` with the condition's operators, a break, and the body; stores iterations on request."""
    condition, body = operator.regions
    _begin(writer, depth, operator)
    writer.line(depth, "while True:", operator)
    writer.block(depth + 1, condition.block)
    writer.line(depth + 1, f"if not {writer.slot(condition.results[0])}: break", operator)
    if writer.metered:
        writer.line(depth + 1, "step()", operator)
    _iteration(writer, depth + 1, operator)
    writer.assign(depth, operator.outputs, body.arguments, operator)


@writes(ops.while_again)
def write_while_again(writer: Writer, depth: int, operator: Operator) -> None:
    """``for`` every iteration that the first run stored: its random keys, and the body."""
    count, arguments = len(operator.inputs[0]), operator.regions[0].arguments
    values, taken = arguments[:count], arguments[count:]
    _begin(writer, depth, operator)
    first = writer.slot(operator.replayed_state)
    writer.line(depth, f"for _, {_tuple(writer.names(taken))} in {first}:", operator)
    _iteration(writer, depth + 1, operator)
    writer.assign(depth, operator.outputs, values, operator)


def _begin(writer: Writer, depth: int, operator: Operator) -> None:
    """The values that a loop begins with."""
    initial = operator.inputs[0]
    writer.assign(depth, operator.regions[-1].arguments[: len(initial)], initial, operator)
    if operator.saved_state is not None:
        writer.line(depth, f"{writer.slot(operator.saved_state)} = []")


def _iteration(writer: Writer, depth: int, operator: Operator) -> None:
    """The body of a loop, which stores the values before it and its random keys on request."""
    body = operator.regions[-1]
    values = body.arguments[: len(operator.inputs[0])]
    if operator.saved_state is not None:
        step = f"{writer.slot(operator.saved_state)}_step"  # a loop within has its own
        read = _read_back(writer.program, operator.saved_state)
        slots = [writer.slot(v) if id(v) in read else "None" for v in values]
        writer.line(depth, f"{step} = {_tuple(slots)}")
    writer.block(depth, body.block)
    if operator.saved_state is not None:
        keys = _tuple(writer.names(iteration_state(operator)))
        writer.line(depth, f"{writer.slot(operator.saved_state)}.append(({step}, {keys}))")
    writer.assign(depth, values, body.results, operator)
    writer.line(depth, "pass")


def _read_back(program: Program, steps: Variable) -> set[int]:
    """The loop's values (by id) that gradients need of every iteration; the others are not stored."""
    found: set[int] = set()
    for block in program.blocks:
        for operator in block.ops:
            if operator.opdef is ops.while_grad.opdef and operator.inputs[3] is steps:
                (body,) = operator.regions
                found |= {id(v) for v in (*reads_inside(body.block), *body.results)}
    return found


@writes(ops.while_grad)
def write_while_grad(writer: Writer, depth: int, operator: Operator) -> None:
    """The stored iterations in reverse: replay the body, walk it back, sum the gradients of the sources."""
    starts, sources, _, steps = operator.inputs
    (body,) = operator.regions
    count, rest = operator.attrs["values"], len(body.arguments) - len(starts)
    values, keys = (
        _tuple(writer.names(part)) for part in (body.arguments[:count], body.arguments[count:rest])
    )
    grads = body.arguments[rest:]
    writer.assign(depth, grads, starts, operator)
    outputs = list(variables_of(operator.outputs))
    totals = writer.names(outputs[len(grads) :])
    for total, source in zip(totals, writer.names(sources), strict=True):
        writer.line(depth, f"{total} = xp.zeros_like({source})", operator)
    writer.line(depth, f"for {values}, {keys} in reversed({writer.slot(steps)}):", operator)
    writer.block(depth + 1, body.block)
    writer.assign(depth + 1, grads, body.results[: len(grads)], operator)
    for total, part in zip(totals, writer.names(body.results[len(grads) :]), strict=True):
        writer.line(depth + 1, f"{total} = {total} + {part}", operator)
    writer.line(depth + 1, "pass")
    writer.assign(depth, outputs[: len(grads)], grads, operator)


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if items else ''})"
