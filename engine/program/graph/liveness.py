"""Which operators are needed, and how long values live."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.core.operator import Operator
from engine.program.graph.program import Block, Variable, variables_of

SUB_BLOCKS = ("true_block", "false_block", "cond_block", "body_block")


def sub_blocks(operator: Operator, block: Block) -> Iterator[Block]:
    """The blocks that an operator of control flow runs."""
    for key in SUB_BLOCKS:
        index = operator.attrs.get(key)
        if index is not None:
            yield block.program.blocks[index]


def has_effect(operator: Operator) -> bool:
    """True for an operator that must run even if nobody reads its results."""
    if operator.replay:
        return False
    # The gradient of a printed value is printed as well.
    return operator.opdef.effect or operator.attrs.get("of") == "print_tensor"


def written(ops: Sequence[Operator]) -> set[int]:
    """The ids of what operators replace in place, in their branches and loops too."""
    found: set[int] = set()
    for operator in ops:
        if not operator.opdef.listed and not operator.replay:
            pairs = zip(operator.opdef.outputs, operator.outputs, strict=True)
            found |= {id(v) for declared, v in pairs if declared.writes}
        block = _block_of(operator)
        if block is not None:
            for sub in sub_blocks(operator, block):
                found |= written(sub.ops)
    return found


def stored_by(ops: Sequence[Operator]) -> list[Variable]:
    """The persistable Variables that operators give a new value, other than by replacing the old in place."""
    found: dict[int, Variable] = {}
    for operator in ops:
        if operator.opdef.listed or operator.replay:
            continue
        for declared, variable in zip(operator.opdef.outputs, operator.outputs, strict=True):
            if variable is not None and variable.persistable and not declared.writes:
                found[id(variable)] = variable
    return list(found.values())


def needed(ops: Sequence[Operator], outputs: Sequence[Variable]) -> list[Operator]:
    """The operators that ``outputs`` or effects depend on, in order."""
    wanted = {id(v) for v in outputs}
    kept: list[Operator] = []
    for operator in reversed(ops):
        if (
            has_effect(operator)
            or _effect_inside(operator)
            or any(id(v) in wanted for v in results(operator))
        ):
            kept.append(operator)
            wanted |= {id(v) for v in arguments(operator)}
    kept.reverse()
    return kept


def _effect_inside(operator: Operator) -> bool:
    if operator.opdef.name not in ("conditional_block", "while"):
        return False
    block = _block_of(operator)
    return block is not None and any(
        has_effect(o) or _effect_inside(o) for sub in sub_blocks(operator, block) for o in sub.ops
    )


def _block_of(operator: Operator) -> Block | None:
    for variable in (*variables_of(operator.inputs), *variables_of(operator.outputs)):
        return variable.block
    return None


def arguments(operator: Operator) -> Iterator[Variable]:
    """Everything an operator reads, its replayed random key too."""
    yield from variables_of(operator.inputs)
    if operator.replay and operator.key is not None:
        yield operator.key
    block = _block_of(operator)
    if block is not None and operator.opdef.name in ("conditional_block", "while_grad"):
        for sub in sub_blocks(operator, block):
            for inner in sub.ops:
                if inner.replay and inner.key is not None:
                    yield inner.key


def reads_inside(block: Block) -> Iterator[Variable]:
    """Everything that the operators of a block read, in their branches and loops too."""
    for operator in block.ops:
        yield from arguments(operator)
        for sub in sub_blocks(operator, block):
            yield from reads_inside(sub)


def results(operator: Operator) -> Iterator[Variable]:
    """Everything an operator writes: its outputs, and the random keys drawn in its branches."""
    yield from variables_of(operator.outputs)
    if operator.key is not None and not operator.replay:
        yield operator.key
    steps = operator.attrs.get("steps") if operator.opdef.name == "while" else None
    if steps:
        yield operator.outputs[0].block.var(steps)
    if operator.opdef.name == "conditional_block":
        block = _block_of(operator)
        assert block is not None
        for sub in sub_blocks(operator, block):
            for inner in sub.ops:
                yield from (
                    v for v in results(inner) if v is inner.key or inner.opdef.name == "conditional_block"
                )


def keys_in(block: Block) -> list[Variable]:
    """The random keys drawn in a block, nested branches included; loops keep their own."""
    found: list[Variable] = []
    for operator in block.ops:
        if operator.key is not None and not operator.replay:
            found.append(operator.key)
        if operator.opdef.name == "conditional_block":
            for key in ("true_block", "false_block"):
                found += keys_in(block.program.blocks[operator.attrs[key]])
        if operator.opdef.name == "while" and operator.attrs["steps"]:
            found.append(block.var(operator.attrs["steps"]))
    return found


def last_uses(ops: Sequence[Operator]) -> dict[int, int]:
    """Position of the last operator that reads (or writes) each Variable, by id."""
    last: dict[int, int] = {}
    for position, operator in enumerate(ops):
        for variable in (*arguments(operator), *results(operator)):
            last[id(variable)] = position
    return last
