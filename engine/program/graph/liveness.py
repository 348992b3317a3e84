"""Which operators are needed, how long values live, and who owns their arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.operators import traits
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.ops.control.gradient import gradient
from engine.program.graph.program import Block, Program, Variable, reads, variables_of, writes
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


def needed_values(ops: Sequence[Operator], outputs: Sequence[Variable]) -> set[int]:
    """The Variables, by id, that ``outputs`` and effects depend on, with ``outputs`` themselves."""
    return {id(v) for o in needed(ops, outputs) for v in arguments(o)} | {id(v) for v in outputs}


def leading(
    ops: Sequence[Operator], inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> list[Operator]:
    """The operators that lead from ``inputs`` to ``outputs``, in order; effects that no output reads are
    none of them."""
    given = {id(v) for v in inputs}
    wanted = {id(v) for v in outputs} - given
    found: list[Operator] = []
    for operator in reversed(ops):
        if any(id(v) in wanted for v in results(operator)):
            found.append(operator)
            wanted |= {id(v) for v in arguments(operator)}
            wanted |= {id(v) for b in sub_blocks(operator) for v in reads_inside(b)}
            wanted -= given
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


class Liveness:
    """How long the values of a list of operators live, and who owns their arrays.

    A fact is computed when it is first asked for, and once: the operators must not change afterwards. That of
    a Program's operators is made once for each version of it, see :meth:`of`; a plan has one of the
    operators that it runs. Keys are ids of Variables, operators go by their position.
    """

    def __init__(self, ops: Sequence[Operator]) -> None:
        self.ops = tuple(ops)

    @classmethod
    def of(cls, program: Program) -> Liveness:
        """That of the operators of the global block, as the Program is now."""
        if program.liveness is None:
            program.liveness = cls(program.global_block().ops)
        found: Liveness = program.liveness
        return found

    @cached_property
    def everything(self) -> list[Operator]:
        """The operators, each followed by those in its branches and loops."""
        return list(with_sub_blocks(self.ops))

    # -- writers and readers ---------------------------------------------------------------------------------
    @cached_property
    def last(self) -> dict[int, int]:
        """The last operator that reads or writes each value."""
        last: dict[int, int] = {}
        for position, operator in enumerate(self.ops):
            for variable in (*arguments(operator), *results(operator)):
                last[id(variable)] = position
        return last

    @cached_property
    def makers(self) -> dict[int, int]:
        """The last operator that gives each value."""
        return {id(v): position for position, o in enumerate(self.ops) for v in writes(o)}

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """The operators that read each value, one as often as it does."""
        found: dict[int, list[int]] = {}
        for position, operator in enumerate(self.ops):
            for variable in arguments(operator):
                found.setdefault(id(variable), []).append(position)
        return found

    @cached_property
    def made_by(self) -> IdentityMap[Variable, Operator | None]:
        """The operator that writes each Variable, in branches and loops too; None where several do, so that a
        reader's position decides which value it reads."""
        found: IdentityMap[Variable, Operator | None] = IdentityMap()
        for operator in self.everything:
            for variable in writes(operator):
                found[variable] = None if variable in found else operator
        return found

    @cached_property
    def read_by(self) -> IdentityMap[Variable, list[Operator]]:
        """The operators that read each Variable, or return it from one of their regions, in branches and
        loops too."""
        found: IdentityMap[Variable, list[Operator]] = IdentityMap()
        for operator in self.everything:
            for variable in reads(operator):
                found.setdefault(variable, []).append(operator)
            for region in operator.regions:
                for variable in region.results:
                    found.setdefault(variable, []).append(operator)
        return found

    # -- arrays ----------------------------------------------------------------------------------------------
    @cached_property
    def base(self) -> dict[int, int]:
        """The Variable that owns the array of each view."""
        base: dict[int, int] = {}
        for operator in self.everything:
            if operator.opdef.view:
                source = id(operator.inputs[0])
                base[id(operator.outputs[0])] = base.get(source, source)
        return base

    def owner(self, variable: Variable) -> int:
        """The Variable that owns the array of ``variable``: itself, or the one that it is a view of."""
        return self.base.get(id(variable), id(variable))

    def owners(self, variables: Iterable[Variable]) -> set[int]:
        """The Variables that own the arrays of these."""
        return {self.base.get(id(v), id(v)) for v in variables}

    @cached_property
    def ends(self) -> dict[int, int]:
        """The last operator that uses the array of each owner, under any name."""
        end: dict[int, int] = {}
        for key, position in self.last.items():
            root = self.base.get(key, key)
            end[root] = max(end.get(root, -1), position)
        return end

    @cached_property
    def handed_on(self) -> set[int]:
        """The owners of the values that control flow reads and returns.

        A branch may return a captured value, and a loop without iterations returns its initial values.
        """
        return self.owners(
            v
            for operator in self.everything
            if operator.regions
            for v in (*reads(operator), *writes(operator))
        )

    def with_viewed(self, values: Collection[int]) -> set[int]:
        """These values with all that they are views of."""
        found = set(values)
        for operator in reversed(self.ops):
            if operator.opdef.view and id(operator.outputs[0]) in found:
                found |= {id(v) for v in reads(operator)}
        return found

    # -- changes ---------------------------------------------------------------------------------------------
    @cached_property
    def once(self) -> set[int]:
        """The Variables that one operator writes, in branches and loops too."""
        times: dict[int, int] = {}
        for operator in self.everything:
            for variable in writes(operator):
                times[id(variable)] = times.get(id(variable), 0) + 1
        return {key for key, count in times.items() if count == 1}

    @cached_property
    def written(self) -> IdentitySet[Variable]:
        """The Variables that operators replace in place, in their branches and loops too."""
        return written(self.ops)

    def changed_by(self, operator: Operator) -> set[int]:
        """The owners of the arrays that one of the operators changes in place."""
        found = self.owners(v for v in writes(operator) if v.persistable)
        for inner in with_sub_blocks((operator,)):
            if not inner.opdef.listed:
                given = (inner.replaced(n) for n in range(len(inner.outputs)))
                found |= self.owners(v for v in given if isinstance(v, Variable))
        return found

    @cached_property
    def unstable(self) -> IdentitySet[Variable]:
        """Variables whose value may differ from read to read: those written in place or more than once, those
        that come from outside and are written, and views of all these."""
        found: IdentitySet[Variable] = IdentitySet()
        once: IdentitySet[Variable] = IdentitySet()
        for operator in self.everything:
            for n, variable in enumerate(operator.outputs):
                if isinstance(variable, Variable):
                    outside = variable.persistable or variable.is_data
                    if outside or variable in once or operator.replaced(n) is not None:
                        found.add(variable)
                    once.add(variable)
        if found:
            for operator in self.everything:
                if operator.opdef.view and any(v in found for v in reads(operator)):
                    found.update(writes(operator))
        return found
