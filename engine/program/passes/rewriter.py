"""Rewriter: copies operators with substitution, and erases, replaces and inserts them.

Every pass and every copy of a Program uses it, so that notes, source lines, regions, random keys and
name hints stay with their operators.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.errors import GradientError
from engine.core.operators import traits
from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator, at_line
from engine.ops.arrays import shape
from engine.program.build.builder import Builder
from engine.program.graph.liveness import captured, has_effect, sub_blocks, with_sub_blocks
from engine.program.graph.program import Block, Program, reads, variables_of
from engine.program.graph.region import Region
from engine.program.graph.replay_state import draws, iteration_state, runs_again_as, store_state
from engine.program.graph.variable import Parameter, Variable

_noted: ContextVar[dict[str, str] | None] = ContextVar("substitutions", default=None)


@contextmanager
def noting_substitutions() -> Iterator[dict[str, str]]:
    """Collect the Variables that take the place of others within the block: for each new name the old one."""
    found: dict[str, str] = {}
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


class Rewriter:
    """Changes ``program``; operators of another one, or of another of its blocks, are copied into it.

    ``mapped`` gives the Variable of ``program`` for one of the source, ``blocks`` the same for
    Blocks. With ``replay`` the copies are a second run of the originals: they reuse the random keys that
    those drew (a loop those of its iterations) and have no effects. Subclasses define how Variables
    (``made``) and blocks (``block_for``) are created.
    """

    def __init__(self, program: Program, replay: bool = False) -> None:
        self.program = program
        self.replay = replay
        self.mapped: IdentityMap[Variable, Variable] = IdentityMap()
        self.blocks: IdentityMap[Block, Block] = IdentityMap()
        # In a second run ``mapped`` holds the iterations of a first loop, which its copy takes; these are
        # the iterations that the copy stores itself.
        self._state_again: IdentityMap[Variable, Variable] = IdentityMap()

    # -- copies --------------------------------------------------------------------------------------------
    def made(self, variable: Variable, target: Block) -> Variable:
        """A new Variable in ``target`` for ``variable``."""
        return self.mapped[variable]

    def block_for(self, block: Block, target: Block) -> Block:
        """The block, without operators yet, for a sub-block of an operator that is copied to ``target``."""
        outer = block.parent
        assert outer is not None, "a sub-block has a parent"
        if outer not in self.blocks:  # the block of a loop's values, which its regions share
            self.blocks[outer] = self.program.create_block(target)
        made = self.blocks[block] = self.program.create_block(self.blocks[outer])
        return made

    def leaves_out(self, operator: Operator) -> bool:
        """Whether there is no copy of ``operator``."""
        return False

    def read(self, value: Variable | list[Any] | tuple[Any, ...] | None) -> Any:
        """The copy of an operator's input: a Variable, a list of them, or None."""
        if isinstance(value, (list, tuple)):
            return [self.read(v) for v in value]
        return None if value is None else self.mapped.get(value, value)

    def copy_block(self, block: Block, target: Block) -> list[Operator]:
        """Append copies of the operators of ``block`` to ``target``; returns the copies."""
        self.blocks[block] = target
        made = [self.copy(o, target) for o in block.ops if not self.leaves_out(o)]
        return [operator for operator in made if operator is not None]

    def copy(self, operator: Operator, target: Block) -> Operator | None:
        """Append a copy of ``operator`` to ``target``.

        Returns None where a replay leaves it out: an effect whose result is its input. Raises GradientError
        for the replay of a loop that draws random numbers, where it can't keep those of each iteration.
        """
        opdef = operator.opdef
        if self.replay and opdef in traits.passes_on:
            for result, given in zip(variables_of(operator.outputs), reads(operator), strict=False):
                self.mapped[result] = self.mapped.get(given, given)
            return None
        taken, regions = operator.replayed_state, operator.regions
        keys: Sequence[Variable] = ()
        if taken is None and self.replay and draws(operator):
            taken = store_state(operator)
            if opdef in traits.loops:  # runs its body alone, with the keys of each iteration
                opdef, regions, keys = _again(operator), regions[-1:], iteration_state(operator)
        inputs = tuple(
            self._state_again[v] if v in self._state_again else self.read(v) for v in operator.inputs
        )
        copied = Operator(opdef, inputs, dict(operator.attrs))
        copied.regions = tuple(self._region(region, target, keys) for region in regions)
        copied.outputs = tuple(None if v is None else self.made(v, target) for v in operator.outputs)
        copied.take_place(operator)
        copied.segment = operator.segment
        copied.replay = self.replay or operator.replay
        copied.replayed_state = None if taken is None else self.read(taken)
        copied.saved_state = self.state_for(operator, copied, target)
        copied.notes = self.notes_for(operator.notes)
        return target.append(copied)

    def state_for(self, operator: Operator, copied: Operator, target: Block) -> Variable | None:
        """The state that the copy of ``operator`` stores itself for a second run.

        A second run stores no keys, which it has from the first, but the iterations of loops where their
        gradient is copied, too.
        """
        if operator.saved_state is None:
            return None
        if not self.replay:
            return self.made(operator.saved_state, target)
        block = next(variables_of(operator.outputs)).block
        if not any(v is operator.saved_state for o in block.ops for v in o.inputs):
            return None
        made = self._state_again[operator.saved_state] = store_state(copied)
        return made

    def _region(self, region: Region, target: Block, keys: Sequence[Variable]) -> Region:
        block = self.block_for(region.block, target)
        for variable in region.arguments:
            if variable not in self.mapped and variable.block in self.blocks:
                self.mapped[variable] = self.made(variable, self.blocks[variable.block])
        self.copy_block(region.block, block)
        return Region(block, self.read((*region.arguments, *keys)), self.read(region.results))

    def notes_for(self, notes: dict[str, Any] | None) -> dict[str, Any] | None:
        """The notes of a copy: data for its text only."""
        if not notes:
            return notes
        copied = dict(notes)
        if "extra" in copied:
            copied["extra"] = {slot: self.read(v) for slot, v in copied["extra"].items()}
        if "attrs" in copied:
            copied["attrs"] = dict(copied["attrs"])
        return copied

    # -- changes in place ----------------------------------------------------------------------------------
    def erase(self, operators: Sequence[Operator]) -> None:
        """Take operators out of their blocks, with their sub-blocks and the Variables that nothing else
        touches."""
        if not operators:
            return
        gone = IdentitySet(operators)
        for block in self.program.blocks:
            block.ops = [o for o in block.ops if o not in gone]
        touched: IdentitySet[Variable] = IdentitySet()
        left = list(with_sub_blocks(self.program.global_block().ops))
        for operator in left:
            touched.update(_touched(operator))
        interface = {*self.program.inputs, *self.program.outputs}
        for operator in with_sub_blocks(operators):
            for variable in _touched(operator):
                held = variable.persistable or variable.is_data or variable.name in interface
                if not held and variable not in touched:
                    variable.block.vars.pop(variable.name, None)
        self._drop_blocks(left)
        self.program.changed()

    def _drop_blocks(self, operators: Sequence[Operator]) -> None:
        """Remove blocks that no operator runs, and renumber the others."""
        program = self.program
        run = IdentitySet([program.global_block()])
        for operator in operators:
            for block in sub_blocks(operator):
                run.update(block.lineage())
        if len(run) < len(program.blocks):
            blocks = [block for block in program.blocks if block in run]
            parents = [block.parent for block in blocks]
            for number, block in enumerate(blocks):
                block.idx = number
            for block, parent in zip(blocks, parents, strict=True):
                block.parent_idx = -1 if parent is None else parent.idx
            program.blocks = blocks

    def replace(self, old: Variable, new: Variable) -> None:
        """Let everything that reads ``old`` read ``new``; see ``substitute``."""
        self.substitute(IdentityMap([(old, new)]))

    def substitute(self, found: IdentityMap[Variable, Variable]) -> None:
        """Let everything that reads one of these Variables read the other.

        Where an old one is an output of the Program, the new one becomes that output and takes its name,
        unless the new one is itself fed, persistable or an output: then the old one stays.
        """
        if not found:
            return
        stands = Rewriter(self.program)
        stands.mapped = found
        for operator in reversed(list(with_sub_blocks(self.program.global_block().ops))):  # inner ones first
            operator.inputs = tuple([stands.read(v) for v in operator.inputs])
            if operator.regions:
                operator.regions = tuple(
                    Region(r.block, stands.read(r.arguments), stands.read(r.results))
                    for r in operator.regions
                )
                _capture(operator)
        outputs = self.program.outputs
        for old, new in found.items():
            held = new.is_data or new.persistable or new.name in outputs
            before = old.name
            if old.name in outputs and old.block is new.block and not held:
                _swap_names(old, new)
            if (noted := _noted.get()) is not None and new.name != before:
                noted.setdefault(new.name, before)
        self.program.changed()

    @contextmanager
    def before(self, operator: Operator, block: Block, source: Operator | None = None) -> Iterator[None]:
        """Insert operators that are applied within the ``with`` block in front of ``operator`` in ``block``.

        They have the segment and the line of the user's code that created ``source`` (``operator`` by
        default)."""
        count = len(block.ops)
        with modes.use(Builder(self.program, block=block)):
            yield
        added = block.ops[count:]
        del block.ops[count:]
        place = next(n for n, o in enumerate(block.ops) if o is operator)
        block.ops[place:place] = added
        for each in added:
            each.take_place(source or operator)
            each.segment = (source or operator).segment
        self.program.changed()


def is_pure(operator: Operator) -> bool:
    """True where running an operator twice gives the same and does nothing else."""
    opdef = operator.opdef
    return not (
        opdef.random
        or opdef in traits.opaque
        or opdef.regions
        or operator.replay
        or opdef in traits.loops
        or has_effect(operator)
    )


def frozen(value: object, named: Callable[[Variable], Hashable] = id) -> Hashable:
    """An attribute or input as a value that can be compared: 1, True and 1.0 differ."""
    if isinstance(value, Variable):
        return named(value)
    if isinstance(value, (list, tuple)):
        return tuple([frozen(v, named) for v in value])
    if isinstance(value, dict):
        return tuple([(key, frozen(v, named)) for key, v in value.items()])
    return type(value), repr(value) if isinstance(value, (float, np.generic)) else value


def constant(operator: Operator, variable: Variable, array: np.ndarray[Any, Any]) -> Operator:
    """A constant operator that gives ``array`` as ``variable``, in place of ``operator``."""
    opdef = shape.constant.opdef
    attrs = {"shape": list(array.shape), "dtype": variable.dtype.name, "values": array.reshape(-1).tolist()}
    made = Operator(opdef, (), opdef.with_defaults(attrs))
    made.outputs = (variable,)
    made.take_place(operator)
    return made


def _again(operator: Operator) -> OpDef:
    """The operator that runs a loop a second time, for loops that draw random numbers."""
    opdef = operator.opdef
    if opdef not in runs_again_as:
        raise at_line(
            GradientError(
                f"{opdef.name}: draws random numbers in a loop, which can't be drawn again for a gradient; "
                "draw them before the loop"
            ),
            operator,
        )
    return runs_again_as[opdef]


def like(variable: Variable, block: Block) -> Variable:
    """A Variable of ``block`` with the name and all fields of ``variable``."""
    if isinstance(variable, Parameter):
        made = Parameter(
            block,
            variable.name,
            variable.spec,
            trainable=variable.trainable,
            is_data=variable.is_data,
            tensor=variable.tensor,
        )
        made.copy_fields(variable)
        return made
    twin = Variable.__new__(type(variable))
    twin.__dict__.update(variable.__dict__)  # as copy.copy does, in a third of the time
    twin.block = block
    return twin


def _swap_names(a: Variable, b: Variable) -> None:
    """Two Variables of one block take each other's name and place."""
    names = a.block.vars
    a.name, b.name = b.name, a.name
    names[a.name], names[b.name] = a, b


def _capture(operator: Operator) -> None:
    """Update the input ``captured`` of an operator with regions: Variables that they read from outside."""
    place, inputs = operator.opdef.index_of["captured"], list(operator.inputs)
    read = captured(operator)
    known = IdentitySet(v for v in inputs[place] if v in read)
    known.update(read)
    inputs[place] = list(known)
    operator.inputs = tuple(inputs)


def _touched(operator: Operator) -> Iterator[Variable]:
    yield from reads(operator)
    yield from variables_of(operator.outputs)
    yield from (v for v in (operator.saved_state, operator.replayed_state) if v is not None)
    for region in operator.regions:
        yield from region.arguments
        yield from region.results
    yield from (operator.notes or {}).get("extra", {}).values()
