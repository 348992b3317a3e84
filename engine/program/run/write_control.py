"""Writes the branches and loops of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from engine.core.operator import Operator
from engine.ops.control import flow as ops
from engine.program.graph.liveness import drawn_in, reads_inside
from engine.program.graph.program import Block, Program, Variable, variables_of

if TYPE_CHECKING:
    from engine.program.run.plan import Writer


def _body(writer: Writer, depth: int, block: Block) -> None:
    for operator in block.ops:
        writer.operator(depth, operator)


def _slots(writer: Writer, variables: Iterable[Variable]) -> list[str]:
    return [writer.slot(v) for v in variables]


def _assign(writer: Writer, depth: int, targets: list[str], sources: list[str], operator: Operator) -> None:
    if targets:
        writer.line(depth, f"{', '.join(targets)}, = {', '.join(sources)},", operator)


def write_cond(writer: Writer, depth: int, operator: Operator) -> None:
    """``if pred: ... else: ...``, each side ending with the results."""
    results = _slots(writer, variables_of(operator.outputs))
    for region in operator.regions:
        for variable in drawn_in(region.block):
            writer.line(depth, f"{writer.slot(variable)} = None")
    pred = writer.slot(operator.inputs[0])
    for word, region in zip((f"if {pred}:", "else:"), operator.regions, strict=True):
        writer.line(depth, word, operator)
        _body(writer, depth + 1, region.block)
        _assign(writer, depth + 1, results, _slots(writer, region.results), operator)
        writer.line(depth + 1, "pass")


def write_while(writer: Writer, depth: int, operator: Operator) -> None:
    """``while True:`` with the condition's operators, a break, and the body; keeps iterations where asked."""
    condition, body = operator.regions
    carried = _slots(writer, body.arguments)
    _assign(writer, depth, carried, _slots(writer, operator.inputs[0]), operator)
    steps = writer.slot(operator.kept) if operator.kept is not None else None
    if steps:
        writer.line(depth, f"{steps} = []")
    writer.line(depth, "while True:", operator)
    _body(writer, depth + 1, condition.block)
    writer.line(depth + 1, f"if not {writer.slot(condition.results[0])}: break", operator)
    if steps:
        read = _read_back(writer.program, operator.kept)
        kept = [slot if id(v) in read else "None" for slot, v in zip(carried, body.arguments, strict=True)]
        writer.line(depth + 1, f"step = {_tuple(kept)}")
    _body(writer, depth + 1, body.block)
    if steps:
        keys = _slots(writer, drawn_in(body.block))
        writer.line(depth + 1, f"{steps}.append((step, {_tuple(keys)}))")
    _assign(writer, depth + 1, carried, _slots(writer, body.results), operator)
    _assign(writer, depth, _slots(writer, variables_of(operator.outputs)), carried, operator)


def _read_back(program: Program, steps: Variable) -> set[int]:
    """The loop's values (by id) that gradients need of every iteration; the others are not kept."""
    found: set[int] = set()
    for block in program.blocks:
        for operator in block.ops:
            if operator.opdef is ops.while_grad.opdef and operator.inputs[3] is steps:
                (body,) = operator.regions
                found |= {id(v) for v in (*reads_inside(body.block), *body.results)}
    return found


def write_while_grad(writer: Writer, depth: int, operator: Operator) -> None:
    """The kept iterations in reverse: replay the body, walk it back, sum the gradients of the sources."""
    starts, sources, _, steps = operator.inputs
    (body,) = operator.regions
    values, rest = operator.attrs["values"], len(body.arguments) - len(starts)
    carried, keys, grads = (
        _slots(writer, part) for part in (body.arguments[:values], body.arguments[values:rest],
                                          body.arguments[rest:])
    )  # fmt: skip
    _assign(writer, depth, grads, _slots(writer, starts), operator)
    outputs = _slots(writer, variables_of(operator.outputs))
    totals = outputs[len(grads) :]
    for total, source in zip(totals, _slots(writer, sources), strict=True):
        writer.line(depth, f"{total} = xp.zeros_like({source})", operator)
    writer.line(depth, f"for {_tuple(carried)}, {_tuple(keys)} in reversed({writer.slot(steps)}):", operator)
    _body(writer, depth + 1, body.block)
    made = _slots(writer, body.results)
    _assign(writer, depth + 1, grads, made[: len(grads)], operator)
    for total, part in zip(totals, made[len(grads) :], strict=True):
        writer.line(depth + 1, f"{total} = {total} + {part}", operator)
    writer.line(depth + 1, "pass")
    _assign(writer, depth, outputs[: len(grads)], grads, operator)


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if items else ''})"


# The function that writes an operator with regions, by the name of its definition.
CONTROL: dict[str, Callable[[Writer, int, Operator], None]] = {
    ops.cond.opdef.name: write_cond,
    ops.while_loop.opdef.name: write_while,
    ops.while_grad.opdef.name: write_while_grad,
}
