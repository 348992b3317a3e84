"""How a plan writes out branches and loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.core.operator import Operator
from engine.program.graph.liveness import keys_in, reads_inside
from engine.program.graph.program import Block, Program, variables_of

if TYPE_CHECKING:
    from engine.program.run.plan import Writer


def _block(writer: Writer, operator: Operator, key: str) -> Block:
    return writer.program.blocks[operator.attrs[key]]


def _body(writer: Writer, depth: int, block: Block) -> None:
    for operator in block.ops:
        writer.operator(depth, operator)


def _named(writer: Writer, block: Block, names: Any) -> list[str]:
    return [writer.slot(block.var(n)) for n in names]


def _assign(writer: Writer, depth: int, targets: list[str], sources: list[str], operator: Operator) -> None:
    if targets:
        writer.line(depth, f"{', '.join(targets)}, = {', '.join(sources)},", operator)


def write_cond(writer: Writer, depth: int, operator: Operator) -> None:
    """``if pred: ... else: ...``, each side ending with the results."""
    results = [writer.slot(v) for v in variables_of(operator.outputs)]
    sides = [("true_block", "true_results"), ("false_block", "false_results")]
    for key, _ in sides:
        for variable in keys_in(_block(writer, operator, key)):
            writer.line(depth, f"{writer.slot(variable)} = None")
    pred = writer.slot(operator.inputs[0])
    for word, (key, names) in zip((f"if {pred}:", "else:"), sides, strict=True):
        writer.line(depth, word, operator)
        block = _block(writer, operator, key)
        _body(writer, depth + 1, block)
        _assign(writer, depth + 1, results, _named(writer, block, operator.attrs[names]), operator)
        writer.line(depth + 1, "pass")


def write_while(writer: Writer, depth: int, operator: Operator) -> None:
    """``while True:`` with the condition's operators, a break, and the body; keeps iterations where asked."""
    attrs = operator.attrs
    condition, body = _block(writer, operator, "cond_block"), _block(writer, operator, "body_block")
    carried = _named(writer, body, attrs["loop_names"])
    _assign(writer, depth, carried, [writer.slot(v) for v in operator.inputs[0]], operator)
    steps = writer.slot(body.var(attrs["steps"])) if attrs["steps"] else None
    if steps:
        writer.line(depth, f"{steps} = []")
    writer.line(depth, "while True:", operator)
    _body(writer, depth + 1, condition)
    writer.line(depth + 1, f"if not {writer.slot(condition.var(attrs['cond_result']))}: break", operator)
    if steps:
        read = _read_back(writer.program, attrs["steps"])
        kept = [s if name in read else "None" for s, name in zip(carried, attrs["loop_names"], strict=True)]
        writer.line(depth + 1, f"step = ({', '.join(kept)},)")
    _body(writer, depth + 1, body)
    if steps:
        keys = [writer.slot(v) for v in keys_in(body)]
        writer.line(depth + 1, f"{steps}.append((step, ({', '.join(keys)}{',' if keys else ''})))")
    _assign(writer, depth + 1, carried, _named(writer, body, attrs["body_results"]), operator)
    _assign(writer, depth, [writer.slot(v) for v in variables_of(operator.outputs)], carried, operator)


def _read_back(program: Program, steps: str) -> set[str]:
    """Names of the loop's values that gradients need of every iteration; the others are not kept."""
    found: set[str] = set()
    for block in program.blocks:
        for operator in block.ops:
            if operator.opdef.name == "while_grad" and operator.attrs["steps"] == steps:
                body = program.blocks[operator.attrs["body_block"]]
                found |= {v.name for v in reads_inside(body)} | set(operator.attrs["sums"]["grads"])
    return found


def write_while_grad(writer: Writer, depth: int, operator: Operator) -> None:
    """The kept iterations in reverse: replay the body, go back through it, sum what captured values get."""
    attrs = operator.attrs
    body = _block(writer, operator, "body_block")
    grads = _named(writer, body, attrs["grad_names"])
    carried = _named(writer, body, attrs["loop_names"])
    _assign(writer, depth, grads, [writer.slot(v) for v in operator.inputs[0]], operator)
    outputs = list(variables_of(operator.outputs))
    totals = [writer.slot(v) for v in outputs[len(grads) :]]
    captured = [body.var(n) for n in attrs["carried"][len(grads) :]]
    for total, source in zip(totals, captured, strict=True):
        writer.line(depth, f"{total} = xp.zeros_like({writer.slot(source)})", operator)
    keys = [writer.slot(body.var(n)) for n in attrs["sums"]["keys"]]
    unpacked = f"({', '.join(carried)},), ({', '.join(keys)}{',' if keys else ''})"
    writer.line(depth, f"for {unpacked} in reversed({writer.slot(body.var(attrs['steps']))}):", operator)
    _body(writer, depth + 1, body)
    _assign(writer, depth + 1, grads, _named(writer, body, attrs["sums"]["grads"]), operator)
    for total, name in zip(totals, attrs["sums"]["captured"], strict=True):
        writer.line(depth + 1, f"{total} = {total} + {writer.slot(body.var(name))}", operator)
    writer.line(depth + 1, "pass")
    _assign(writer, depth, [writer.slot(v) for v in outputs[: len(grads)]], grads, operator)


CONTROL: dict[str, Callable[[Writer, int, Operator], None]] = {
    "conditional_block": write_cond,
    "while": write_while,
    "while_grad": write_while_grad,
}
