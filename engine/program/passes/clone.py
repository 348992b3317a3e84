"""A copy of a whole Program, for training or for testing."""

from __future__ import annotations

import copy
from typing import Any

from engine.core.operator import Operator
from engine.program.graph import delegates
from engine.program.graph.program import Block, Program
from engine.program.graph.variable import Parameter, Variable

BACKWARD, OPTIMIZE = 1, 2


@delegates.clone.define
def clone(program: Program, for_test: bool = False) -> Program:
    """Before: a Program. After: one of its own blocks, Variables and operators, sharing values by name (and
    with eager Tensors). ``for_test``: without gradients and updates, dropout and batch norm as in prediction.
    """
    made = Program()
    made.random_seed = program.random_seed
    made.inputs, made.outputs = list(program.inputs), list(program.outputs)
    made.rates = [] if for_test else list(program.rates)
    made.blocks = [Block(made, b.idx, b.parent_idx) for b in program.blocks]
    copies: dict[int, Variable] = {}
    for block, twin in zip(program.blocks, made.blocks, strict=True):
        for name, variable in block.vars.items():
            copies[id(variable)] = twin.vars[name] = copied(variable, made.blocks[variable.block.idx])
    for variable in program.bound():
        if id(variable) in copies:
            made.bind(copies[id(variable)], variable.tensor)

    def moved(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(moved(v) for v in value)
        return copies.get(id(value), value) if isinstance(value, Variable) else value

    for block, twin in zip(program.blocks, made.blocks, strict=True):
        for operator in block.ops:
            if for_test and role(operator) & (BACKWARD | OPTIMIZE):
                continue
            made_op = Operator(operator.opdef, moved(operator.inputs), dict(operator.attrs))
            made_op.outputs = moved(operator.outputs)
            made_op.code, made_op.instruction = operator.code, operator.instruction
            made_op.key, made_op.replay = moved(operator.key), operator.replay
            made_op.notes = moved_notes(operator.notes, moved)
            if for_test and "is_test" in made_op.attrs:
                made_op.attrs["is_test"] = True
            twin.ops.append(made_op)
    if for_test:
        _drop_unused(program, made)
        for block in made.blocks:
            for operator in block.ops:
                _drop_training_results(operator)
            block.vars = dict(sorted(block.vars.items()))  # as Paddle lists them, which takes them from a map
    made.changed()
    return made


def _drop_training_results(operator: Operator) -> None:
    """What only Paddle's training way of an operator gives."""
    extra = dict((operator.notes or {}).get("extra", {}))
    if operator.attrs.get("is_test") and "ReserveSpace" in extra:
        del extra["ReserveSpace"]
        operator.note("extra", extra)


def role(operator: Operator) -> int:
    """Paddle's op_role: 0 forward, 1 backward, 2 update, 256 the loss."""
    return int((operator.notes or {}).get("attrs", {}).get("op_role", 0))


def copied(variable: Variable, block: Block) -> Variable:
    """A Variable of another block that is like this one."""
    if isinstance(variable, Parameter):
        made: Variable = Parameter(
            block, variable.name, variable.spec, trainable=variable.trainable, is_data=variable.is_data,
            tensor=variable.tensor,
        )  # fmt: skip
        assert isinstance(made, Parameter)
        made.copy_fields(variable)
    else:
        made = copy.copy(variable)
        made.block = block
    return made


def moved_notes(notes: dict[str, Any] | None, moved: Any) -> dict[str, Any] | None:
    """Notes of an operator for its copy; ``moved`` gives what stands for a Variable."""
    if not notes:
        return notes
    made = dict(notes)
    if "extra" in made:
        made["extra"] = {slot: moved(v) for slot, v in made["extra"].items()}
    if "attrs" in made:
        made["attrs"] = dict(made["attrs"])
    return made


def _drop_unused(source: Program, made: Program) -> None:
    """Leave out the Variables that only the operators left out read or wrote."""
    for old, new in zip(source.blocks, made.blocks, strict=True):
        dropped = _touched([o for o in old.ops if role(o) & (BACKWARD | OPTIMIZE)])
        kept = _touched([o for b in made.blocks for o in b.ops])
        for name in dropped - kept:
            variable = new.vars.get(name)
            if variable is not None and not variable.is_parameter and not variable.is_data:
                del new.vars[name]


def _touched(operators: list[Operator]) -> set[str]:
    from engine.program.text.describe import describe

    return {
        name
        for o in operators
        for names in (*describe(o).inputs.values(), *describe(o).outputs.values())
        for name in names
    }
