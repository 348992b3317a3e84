"""Copies operators into a Program that is being built: a Program into another, a branch into its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.containers.identity import IdentityMap
from engine.program.build.builder import Builder
from engine.program.graph.program import Block, Program
from engine.program.graph.region import Region
from engine.program.graph.variable import Variable
from engine.program.passes.rewriter import Rewriter


class Inliner(Rewriter):
    """Copies operators into the Program of ``builder``; the Variables that they write get new names."""

    def __init__(self, builder: Builder, replay: bool = False) -> None:
        super().__init__(builder.program, replay)
        self.builder = builder
        # Variables that replayed operators would write in place, and their former stand-ins.
        self._replaced: list[tuple[Variable, Variable | None]] = []

    def made(self, variable: Variable, target: Block) -> Variable:
        found = self.mapped.get(variable)
        if found is None or (self.replay and variable.persistable):  # a replay writes no statistics
            if variable.persistable:
                self._replaced.append((variable, found))
            base = variable.name.partition(".tmp_")[0].rpartition("_")[0] or variable.name
            found = self.mapped[variable] = target.create_var(
                f"{self.program.unique_name(base)}.tmp_0",
                variable.spec,
                # Gradients flow back through a replay even where none of them are wanted in their turn.
                stop_gradient=variable.stop_gradient or not (self.replay or self.builder.grad),
                is_data=variable.is_data,
            )
        return found

    def _region(self, region: Region, target: Block, keys: Sequence[Variable]) -> Region:
        count = len(self._replaced)
        made = super()._region(region, target, keys)
        for variable, before in reversed(self._replaced[count:]):  # another branch knows nothing of it
            if before is None:
                del self.mapped[variable]
            else:
                self.mapped[variable] = before
        del self._replaced[count:]
        return made

    def notes_for(self, notes: dict[str, Any] | None) -> dict[str, Any] | None:
        return None  # they hold names of the source


def inline(
    builder: Builder, source: Program, inputs: Sequence[Variable], given: Sequence[Any]
) -> IdentityMap[Variable, Variable]:
    """Append copies of the operators of ``source`` to the current block, with ``given`` for its ``inputs``.

    Returns the Variable that replaces each Variable of ``source``. Tensors that it shares storage with stay
    shared.
    """
    inliner = Inliner(builder)
    builder.program.foreign |= source.foreign
    inliner.mapped.update(zip(inputs, given, strict=True))
    for variable in source.bound():
        inliner.mapped[variable] = builder.program.capture(variable.tensor)
    inliner.copy_block(source.global_block(), builder.block)
    return inliner.mapped
