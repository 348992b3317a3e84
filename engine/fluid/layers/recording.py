"""Operators that a script builds within ``with`` and that are recorded aside, to be copied into place later.

While, Switch and StaticRNN stand on this: what changed within the block is known when it ends, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from engine.core import mode as modes
from engine.core.containers.identity import IdentitySet
from engine.core.errors import ArgumentError, ModeError
from engine.core.frames import located, user_frame
from engine.core.operators.operator import Operator
from engine.program.build.builder import Builder, current_builder
from engine.program.build.results import has_no_gradient
from engine.program.graph.program import Block, Program, reads
from engine.program.graph.variable import Variable
from engine.program.passes.inline import Inliner
from engine.tensor.arrays.tensor_array import TensorArray, watching


class Recorded:
    """Operators that stand aside, and the values from outside that they change."""

    def __init__(self, block: Block) -> None:
        self.block = block
        # What a script holds, what it stood for before the block, and what it stands for after it.
        self.changes: list[tuple[Any, Variable, Variable]] = []
        self.arrays: list[tuple[TensorArray, list[Any], list[Any]]] = []

    def before(self) -> list[Any]:
        """The values that are changed, as they are at the beginning."""
        return [old for _, old, _ in self.changes] + [v for _, old, _ in self.arrays for v in old]

    def after(self) -> list[Any]:
        """The same values, as they are at the end."""
        return [new for _, _, new in self.changes] + [v for _, _, new in self.arrays for v in new]

    def copied(self, given: Iterable[tuple[Variable, Any]]) -> Callable[[Variable], Any]:
        """Append copies to the current block, with other values for Variables; what reads a copy's values."""
        builder = current_builder()
        assert builder is not None, "blocks are built in static mode"
        copies = _Copies(builder, self.block)
        copies.mapped.update(given)
        copies.copy_block(self.block, builder.block)
        return copies.read

    def hoisted(self, value: Variable) -> Any:
        """A copy, in the current block, of a value made within the block from values outside alone.

        None where it depends on Variables of the block that no operator makes.
        """
        needed, chosen = IdentitySet([value]), []
        for operator in reversed(self.block.ops):
            if any(v in needed for v in operator.outputs if isinstance(v, Variable)):
                chosen.append(operator)
                needed |= IdentitySet(reads(operator))
        made = IdentitySet(v for o in chosen for v in o.outputs if isinstance(v, Variable))
        if any(v.block is self.block and v not in made for v in needed):
            return None
        builder = current_builder()
        assert builder is not None, "blocks are built in static mode"
        copies = _Copies(builder, self.block)
        for operator in reversed(chosen):
            copies.copy(operator, builder.block)
        return copies.read(value)

    def replay(self, given: list[Any] | None = None) -> dict[int, Any]:
        """Append copies to the current block, with ``given`` for ``before()``.

        Returns the changed values by the ids of what they stood for before.
        """
        read = self.copied(zip(self.before(), given or (), strict=given is not None))
        return {id(old): read(new) for old, new in zip(self.before(), self.after(), strict=True)}

    def take(self, results: dict[int, Any]) -> None:
        """Let what was changed stand for ``results``, which are by the ids of what they stood for before."""
        builder = current_builder()
        assert builder is not None, "blocks are built in static mode"
        for x, old, _ in self.changes:
            builder.rebind(x, results[id(old)])
        for array, olds, _ in self.arrays:
            array.become([results[id(old)] for old in olds])


class _Copies(Inliner):
    """Copies of recorded operators, their shapes inferred again; values from outside stay themselves."""

    def __init__(self, builder: Builder, recorded: Block) -> None:
        super().__init__(builder)
        outer = recorded.parent
        assert outer is not None, "what is recorded stands in a block of its own"
        self._outer = list(outer.lineage())

    def made(self, variable: Variable, target: Block) -> Variable:
        if any(variable.block is block for block in self._outer):
            return variable
        copied = super().made(variable, target)
        if variable.is_data and self.builder.grad and variable.dtype.is_floating_point:
            copied.stop_gradient = False  # a value of an inner loop, which may come to depend on others
        return copied

    def copy(self, operator: Operator, target: Block) -> Operator | None:
        copied = super().copy(operator, target)
        if copied is None:
            return None
        outputs = [
            (v, n)
            for n, v in enumerate(copied.outputs)
            if isinstance(v, Variable) and v is not operator.outputs[n]
        ]
        if not copied.regions:
            specs = copied.opdef.infer_specs([_spec_of(v) for v in copied.inputs], copied.attrs)
            for variable, n in outputs:
                if variable.block is target:
                    variable.spec = specs[n]
        # A value that had no gradient in the first iteration, where it was recorded, may have one in others.
        if self._ends(operator) and not self._ends(copied):
            for variable, _ in outputs:
                variable.stop_gradient = not variable.dtype.is_floating_point
        return copied

    def _ends(self, operator: Operator) -> bool:
        inner = [v for region in operator.regions for v in region.results]
        return has_no_gradient(self.builder, operator) and all(v.stop_gradient for v in inner)


def _spec_of(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_spec_of(v) for v in value]
    return None if value is None else value.spec


def static_builder(where: str) -> Builder:
    """The builder of static mode. Raises ModeError where no Program is being built."""
    builder = current_builder()
    if builder is None or builder.startup is None:
        raise ModeError(f"{where}: belongs to a Program, and none is being built; use Python's own statement")
    return builder


@contextmanager
def recording(builder: Builder) -> Iterator[Recorded]:
    """Record what is built within the block; the values that it changes are put back."""
    found = Recorded(builder.program.create_block(builder.block))
    before = dict(builder.rebound)
    with watching() as watch:
        try:
            with modes.use(builder.in_block(found.block)):
                yield found
        finally:
            after = {key: pair for key, pair in builder.rebound.items() if before.get(key) is not pair}
            builder.rebound.clear()
            builder.rebound.update(before)
    held = [(array, array.leaves()) for array in watch.changed()]
    watch.put_back()
    for array, leaves in held:
        if not array.leaves():
            raise located(
                ArgumentError(
                    "array_write: the first element of an array is written within a block; "
                    "write one before the "
                    "block, so that the shape of the elements is known"
                ),
                user_frame(),
            )
        found.arrays.append((array, array.leaves(), leaves))
    lineage = list(builder.block.lineage())
    for x, value in after.values():
        if any(getattr(x, "block", None) is block for block in lineage):
            found.changes.append((x, builder.now(x), value))


def drop(program: Program, recorded: list[Block], until: int) -> None:
    """Take the blocks from the first recorded one to before number ``until`` out of the Program."""
    first = recorded[0].idx
    parents = [block.parent for block in program.blocks]
    remaining = [
        (b, p) for n, (b, p) in enumerate(zip(program.blocks, parents, strict=True)) if not first <= n < until
    ]
    program.blocks = [block for block, _ in remaining]
    for number, (block, _) in enumerate(remaining):
        block.idx = number
    for block, parent in remaining:
        block.parent_idx = -1 if parent is None else parent.idx
