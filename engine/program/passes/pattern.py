"""Queries for passes that look for operators to fuse or fold."""

from __future__ import annotations

from collections.abc import Iterator

from engine.core.containers.identity import IdentityMap
from engine.core.operators.operator import Operator
from engine.program.graph.liveness import Liveness, with_sub_blocks
from engine.program.graph.program import Block, Program
from engine.program.graph.variable import Variable


class Uses:
    """The operators that write and read each Variable of a Program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        live = Liveness.of(program)
        self.made_by, self.read_by = live.made_by, live.read_by

    def maker(self, variable: Variable | None, *names: str) -> Operator | None:
        """The operator of one of these names that writes ``variable``, if that is its only result."""
        found = None if variable is None else self.made_by.get(variable)
        return found if found is not None and found.opdef.name in names else None

    def only_reader(self, variable: Variable, *names: str) -> Operator | None:
        """The one operator that reads ``variable``, if it has such a name and nothing else needs it."""
        readers = self.read_by.get(variable, [])
        held = variable.persistable or variable.name in self.program.outputs
        if len(readers) != 1 or held or self.made_by.get(variable) is None:
            return None
        return readers[0] if readers[0].opdef.name in names and readers[0].outputs else None


def channel_bias(uses: Uses, added: Operator) -> Variable | None:
    """The bias [channels] that ``added`` adds to the channels of a convolution's result."""
    x, y = added.inputs
    conv = uses.made_by.get(x)
    if conv is None or "data_format" not in conv.attrs or not isinstance(y, Variable):
        return None
    channels = x.spec.shape[-1 if conv.attrs["data_format"][-1] == "C" else 1]
    if conv.attrs["data_format"][-1] == "C":
        return y if y.spec.shape == (channels,) else None
    reshaped = uses.maker(y, "reshape2")
    fits = y.spec.shape == (1, channels, *[1] * (x.spec.ndim - 2))
    if reshaped is None or not fits or reshaped.inputs[0].spec.shape != (channels,):
        return None
    found: Variable = reshaped.inputs[0]
    return found


def outermost(program: Program) -> IdentityMap[Operator, Operator]:
    """The operator of the global block that runs each operator: itself, or the branch or loop it is in."""
    found: IdentityMap[Operator, Operator] = IdentityMap()
    for operator in program.global_block().ops:
        for inner in with_sub_blocks((operator,)):
            found[inner] = operator
    return found


def each(program: Program, *names: str) -> Iterator[tuple[Block, Operator]]:
    """The operators of these names with their blocks; operators may be added and erased meanwhile."""
    for block in program.blocks:
        for operator in tuple(block.ops):
            if operator.opdef.name in names:
                yield block, operator
