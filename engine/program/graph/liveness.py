"""Which operators are needed, and how long values live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from engine.core import traits
from engine.core.identity import IdentitySet
from engine.core.opdef import OPS
from engine.core.operator import Operator
from engine.ops.control.gradient import gradient
from engine.program.graph.program import Block, Variable, variables_of
from engine.program.graph.replay_state import state_in


def sub_blocks(operator: Operator) -> Iterator[Block]:
    """The blocks that an operator of control flow runs."""
    for region in operator.regions:
        yield region.block


def with_sub_blocks(ops: Sequence[Operator]) -> Iterator[Operator]:
    """The operators, each followed by those in its regions."""
    for operator in ops:
        yield operator
        for block in sub_blocks(operator):
            yield from with_sub_blocks(block.ops)


def has_effect(operator: Operator) -> bool:
    """True for an operator that must run even where nothing reads its results."""
    if operator.replay:
        return False
    if operator.opdef is gradient.opdef:
        return OPS[operator.attrs["of"]] in traits.gradient_effect
    opdef = operator.opdef
    if opdef.only_writes:
        return any(v is not None and operator.replaced(n) is not None for n, v in enumerate(operator.outputs))
    return opdef.effect


def written(ops: Sequence[Operator]) -> IdentitySet[Variable]:
    """The Variables that operators replace in place, in their branches and loops too."""
    found: IdentitySet[Variable] = IdentitySet()
    for operator in with_sub_blocks(ops):
        if not operator.opdef.listed and not operator.replay:
            outputs = enumerate(operator.outputs)
            found.update(v for n, v in outputs if v is not None and operator.replaced(n) is not None)
    return found


def stored_by(ops: Sequence[Operator]) -> IdentitySet[Variable]:
    """The persistable Variables that operators give a new value, other than by replacing the old in place."""
    found: IdentitySet[Variable] = IdentitySet()
    for operator in ops:
        if operator.opdef.listed or operator.replay:
            continue
        for n, variable in enumerate(operator.outputs):
            if variable is not None and variable.persistable and operator.replaced(n) is None:
                found.add(variable)
    return found


def needed(ops: Sequence[Operator], outputs: Sequence[Variable]) -> list[Operator]:
    """The operators that ``outputs`` or effects depend on, in order."""
    wanted = {id(v) for v in outputs}
    found: list[Operator] = []
    for operator in reversed(ops):
        if any(has_effect(o) for o in with_sub_blocks((operator,))) or any(
            id(v) in wanted for v in results(operator)
        ):
            found.append(operator)
            wanted |= {id(v) for v in arguments(operator)}
    found.reverse()
    return found


def arguments(operator: Operator) -> Iterator[Variable]:
    """Everything an operator reads; if it replays others, their stored state too."""
    yield from variables_of(operator.inputs)
    if operator.regions or operator.replayed_state is not None:
        yield from _taken(operator)


def _taken(operator: Operator) -> Iterator[Variable]:
    """State of first runs outside that an operator and those in its regions take."""
    if operator.replayed_state is not None:
        yield operator.replayed_state
    for region in operator.regions:
        own = IdentitySet((*region.arguments, *state_in(region.block)))
        for inner in region.block.ops:
            yield from (v for v in _taken(inner) if v not in own)


def reads_inside(block: Block) -> Iterator[Variable]:
    """Everything that the operators of a block read, in their branches and loops too."""
    for operator in with_sub_blocks(block.ops):
        yield from arguments(operator)


def outer_reads(blocks: Iterable[Block], results: Iterable[Variable] = ()) -> IdentitySet[Variable]:
    """Variables that operators of blocks and of their sub-blocks read from outside; ``results`` count as
    read."""
    own = IdentitySet(blocks)
    read = [v for block in own for o in with_sub_blocks(block.ops) for v in variables_of(o.inputs)]
    return IdentitySet(v for v in (*read, *results) if not any(b in own for b in v.block.lineage()))


def captured(operator: Operator) -> IdentitySet[Variable]:
    """Variables that the regions of an operator read from outside."""
    regions = operator.regions
    shared = [v.block for region in regions for v in region.arguments]
    return outer_reads((*sub_blocks(operator), *shared), [v for region in regions for v in region.results])


def results(operator: Operator) -> Iterator[Variable]:
    """Everything an operator writes: its outputs, its stored state, and that of its branches."""
    yield from variables_of(operator.outputs)
    if operator.saved_state is not None:
        yield operator.saved_state
    if operator.opdef not in traits.loops:
        for block in sub_blocks(operator):
            yield from state_in(block)


def last_uses(ops: Sequence[Operator]) -> dict[int, int]:
    """Position of the last operator that reads (or writes) each Variable, by id."""
    last: dict[int, int] = {}
    for position, operator in enumerate(ops):
        for variable in (*arguments(operator), *results(operator)):
            last[id(variable)] = position
    return last
