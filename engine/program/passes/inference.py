"""What computes outputs from inputs, as a Program of its own: no gradients, no operators of training only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.operator import Operator
from engine.program.graph.liveness import needed, sub_blocks
from engine.program.graph.program import Block, Program, Variable
from engine.program.passes.clone import copied as copied_variable
from engine.program.passes.clone import moved_notes


def inference_program(source: Program, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Program:
    """Before: a Program as traced. After: only what ``outputs`` depend on, Tensors shared with the source."""
    return copy_program(source, inputs, outputs)[0]


def copy_program(
    source: Program, inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> tuple[Program, dict[int, Variable]]:
    """A copy of what ``outputs`` and effects depend on, and what stands for each Variable (by id) in it."""
    made = Program()
    copied: dict[int, Variable] = {}
    numbers: dict[int, int] = {0: 0}
    kept = {0: needed(source.global_block().ops, outputs)}
    _collect(source, kept[0], kept, numbers)
    for old in sorted(numbers, key=numbers.__getitem__)[1:]:
        parent = numbers.get(source.blocks[old].parent_idx)
        block = source.blocks[old]
        while parent is None:  # a block that only grouped others was not kept
            block = source.blocks[block.parent_idx]
            parent = numbers.get(block.parent_idx)
        made.blocks.append(Block(made, numbers[old], parent))

    def variable(old: Variable) -> Variable:
        found = copied.get(id(old))
        if found is None:
            block = made.blocks[_home(source, old.block, numbers)]
            found = copied[id(old)] = block.vars[old.name] = copied_variable(old, block)
        return found

    def moved(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [moved(v) for v in value]
        return variable(value) if isinstance(value, Variable) else value

    for v in inputs:
        variable(v)
    kept_ops = [operator for operators in kept.values() for operator in operators]
    walked_back = {o.attrs["steps"] for o in kept_ops if o.opdef.name == "while_grad"}
    for old, number in sorted(numbers.items(), key=lambda item: item[1]):
        for name in _named(source, old, kept):
            variable(source.blocks[old].var(name))
        for operator in kept[old]:
            attrs = dict(operator.attrs)
            for key in ("true_block", "false_block", "cond_block", "body_block"):
                if key in attrs:
                    attrs[key] = numbers[attrs[key]]
            if operator.opdef.name == "while" and attrs["steps"] not in walked_back:
                attrs["steps"] = ""
            copy = Operator(operator.opdef, tuple(moved(v) for v in operator.inputs), attrs)
            copy.outputs = tuple(moved(v) for v in operator.outputs)
            copy.notes = moved_notes(operator.notes, variable)
            copy.code, copy.instruction = operator.code, operator.instruction
            copy.replay = operator.replay
            if operator.key is not None:
                copy.key = variable(operator.key)
            made.blocks[number].ops.append(copy)
    made.inputs = [v.name for v in inputs]
    made.outputs = [variable(v).name for v in outputs]
    made.reserve_names()
    made.changed()
    return made, copied


def _collect(
    source: Program, ops: Sequence[Operator], kept: dict[int, list[Operator]], numbers: dict[int, int]
) -> None:
    for operator in ops:
        for block in sub_blocks(operator, source.global_block()):
            outer = source.blocks[block.parent_idx]
            if outer.idx not in numbers and not outer.ops:  # the block of a loop's values
                numbers[outer.idx] = len(numbers)
                kept[outer.idx] = []
            numbers[block.idx] = len(numbers)
            kept[block.idx] = list(block.ops)
            _collect(source, block.ops, kept, numbers)


def _home(source: Program, block: Block, numbers: dict[int, int]) -> int:
    while block.idx not in numbers:
        block = source.blocks[block.parent_idx]
    return numbers[block.idx]


def _named(source: Program, index: int, kept: dict[int, list[Operator]]) -> list[str]:
    """Names that control flow looks up in a block: loop values and results."""
    names: list[str] = []
    for operators in kept.values():
        for operator in operators:
            attrs = operator.attrs
            for key, block in (
                ("true_results", "true_block"),
                ("false_results", "false_block"),
                ("body_results", "body_block"),
            ):
                if attrs.get(block) == index and key in attrs:
                    names += attrs[key]
            if attrs.get("cond_block") == index:
                names.append(attrs["cond_result"])
            if attrs.get("body_block") == index:
                names += attrs["loop_names"]
    return list(dict.fromkeys(names))
