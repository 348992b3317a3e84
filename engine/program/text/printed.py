"""Programs as text, in the form that Paddle 2.6.2 prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.core.operators.operator import Operator
from engine.program.graph import delegates
from engine.program.graph.program import Block, Program, variables_of
from engine.program.graph.variable import Variable
from engine.program.text.control_text import (
    COND,
    LOOP,
    body_parts,
    cond_descs,
    header_parts,
    loop_desc,
    tails,
)
from engine.program.text.describe import OpDesc, describe, shown_name, shown_stop_gradient


@delegates.variable_text.define
def variable_text(variable: Variable, name: str | None = None) -> str:
    """``persist trainable param w : LOD_TENSOR.shape(3, 2).dtype(float32).stop_gradient(False)``."""
    kind = "param" if variable.is_parameter else "var"
    prefix = "persist " if variable.persistable else ""
    if variable.is_parameter:
        prefix += "trainable " if variable.trainable else ""
    start = f"{prefix}{kind} {name or shown_name(variable)} : {variable.type.name}"
    if variable.type != "LOD_TENSOR":
        return f"{start})"
    spec = variable.shown_spec or variable.spec
    return (
        f"{start}.shape{tuple(spec.shape)}.dtype({spec.dtype.name})"
        f".stop_gradient({shown_stop_gradient(variable)})"
    )


@delegates.variable_details.define
def variable_details(variable: Variable) -> str:
    """The line, and further details below it."""
    known: dict[str, Any] = {"persistable": variable.persistable, "is_data": variable.is_data}
    for field in ("trainable", "optimize_attr", "regularizer", "do_model_average", "need_clip"):
        if variable.is_parameter and hasattr(variable, field):
            known[field] = getattr(variable, field)
    return "\n".join([variable_text(variable), *(f"    {name}: {value}" for name, value in known.items())])


def is_hidden(operator: Operator) -> bool:
    """Whether Paddle has no such operator: the text of another one covers it."""
    return operator.notes is not None and "hidden" in operator.notes


class Shown:
    """A Program's blocks as Paddle has them: a loop is one block, numbered in order."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.bodies = {
            o.regions[1].block.idx: o for b in program.blocks for o in b.ops if o.notes and LOOP in o.notes
        }
        merged = {o.regions[0].block.idx for o in self.bodies.values()}
        merged |= {program.blocks[index].parent_idx for index in self.bodies}
        self.blocks = [b for b in program.blocks if b.idx not in merged]
        self.numbers = {b.idx: n for n, b in enumerate(self.blocks)}
        self.tails = tails(program)

    def parent(self, block: Block) -> int:
        """The number of the block that Paddle has this one in."""
        index = block.parent_idx
        while index >= 0 and index not in self.numbers:
            index = self.program.blocks[index].parent_idx
        return self.numbers.get(index, -1)

    def text(self, block: Block, with_details: bool = False) -> str:
        lines = [
            f"{{ // block_idx:{self.numbers.get(block.idx, block.idx)}  parent_idx:{self.parent(block)}  "
            "forward_idx:-1  backward_idx:-1"
        ]
        operators: list[OpDesc] = []
        shown = variable_details if with_details else variable_text
        hidden, instead = self._variables(block)
        for variable in block.vars.values():
            lines += [f"    {line}" for line in instead.get(id(variable), ())]
            if id(variable) not in hidden:
                lines += [f"    {line}" for line in shown(variable).split("\n")]
        for operator in block.ops:
            operators += self._descs(operator)
        if block.idx in self.bodies:
            more, descs = body_parts(self.bodies[block.idx])
            lines += [f"    {variable_text(v, name)}" for v, name in more]
            operators += descs
        operators += self.tails.get(block.idx, [])
        return "\n".join([*lines, "", *(f"    {desc.text()}" for desc in operators), "}"])

    def _variables(self, block: Block) -> tuple[set[int], Mapping[int, list[str]]]:
        """Variables that are not shown, and lines that come before one."""
        hidden = {id(v) for v in block.vars.values() if v.shown_name is not None}
        before: dict[int, list[str]] = {}
        for operator in block.ops:
            if (operator.notes or {}).get("hidden") is True:
                hidden |= {id(v) for v in _results(operator)}
            elif operator.notes and LOOP in operator.notes:
                outputs = list(variables_of(operator.outputs))
                hidden |= {id(v) for v in outputs}
                before[id(outputs[0])] = [variable_text(v, name) for v, name in header_parts(operator)]
        return hidden, before

    def _descs(self, operator: Operator) -> Iterator[OpDesc]:
        notes = operator.notes or {}
        if "hidden" in notes:
            return
        if COND in notes:
            yield from cond_descs(operator, self.numbers)
        elif LOOP in notes:
            for inner in operator.regions[0].block.ops:
                yield from self._descs(inner)
            yield loop_desc(operator, self.numbers)
        else:
            yield describe(operator)


def _results(operator: Operator) -> list[Variable]:
    return [*variables_of(operator.outputs), *(operator.notes or {}).get("extra", {}).values()]


@delegates.block_text.define
def block_text(block: Block, with_details: bool = False) -> str:
    return Shown(block.program).text(block, with_details)


@delegates.program_text.define
def program_text(program: Program, with_details: bool = False) -> str:
    shown = Shown(program)
    return "\n".join(shown.text(b, with_details) for b in shown.blocks) + "\n"
