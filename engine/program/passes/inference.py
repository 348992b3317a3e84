"""The inference part of a Program as a separate Program: no gradients, no operators of training only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.operators import traits
from engine.core.operators.operator import Operator
from engine.ops.control.flow import while_grad
from engine.program.graph.liveness import needed, with_sub_blocks
from engine.program.graph.program import Block, Program, Variable
from engine.program.passes.rewriter import Rewriter, like


def inference_program(source: Program, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Program:
    """Before: a Program as traced. After: only the operators that ``outputs`` need; Tensors stay shared."""
    return copy_program(source, inputs, outputs)[0]


def copy_program(
    source: Program, inputs: Sequence[Variable], outputs: Sequence[Variable], replay: bool = False
) -> tuple[Program, IdentityMap[Variable, Variable]]:
    """A copy of the operators that ``outputs`` and effects need, and the copy of each Variable.

    With ``replay`` it is a second run: its inputs include the stored state of the first.
    """
    ops = needed(source.global_block().ops, outputs)
    made = Program()
    made.foreign = source.foreign
    rewriter = _Extract(made, source.global_block(), ops, replay)
    for variable in inputs:
        rewriter.read(variable)
    for operator in ops:
        rewriter.copy(operator, made.global_block())
    made.inputs = [v.name for v in inputs]
    made.outputs = [rewriter.read(v).name for v in outputs]
    made.reserve_names()
    made.changed()
    return made, rewriter.mapped


class _Extract(Rewriter):
    """Copies into an empty Program. Variables are created, under their own names, as they are met."""

    def __init__(self, program: Program, block: Block, ops: Sequence[Operator], replay: bool) -> None:
        super().__init__(program, replay)
        self.blocks[block] = program.global_block()
        # Loops keep their iterations only for a gradient or a replay that is also copied.
        self._iterations: IdentitySet[Variable] = IdentitySet()
        for operator in with_sub_blocks(ops):
            if operator.opdef is while_grad.opdef:
                self._iterations.add(operator.inputs[3])
            if operator.replayed_state is not None:
                self._iterations.add(operator.replayed_state)
            for region in operator.regions:  # stored iterations of a loop
                self._iterations.update(region.arguments)

    def made(self, variable: Variable, target: Block) -> Variable:
        found = self.mapped.get(variable)
        if found is None:
            home: Block | None = variable.block
            while home is not None and home not in self.blocks:  # a block that was not copied
                home = home.parent
            block = target if home is None else self.blocks[home]
            found = self.mapped[variable] = block.vars[variable.name] = like(variable, block)
        return found

    def read(self, value: Any) -> Any:
        return (
            self.made(value, self.program.global_block())
            if isinstance(value, Variable)
            else super().read(value)
        )

    def state_for(self, operator: Operator, copied: Operator, target: Block) -> Variable | None:
        if operator.opdef in traits.loops and operator.saved_state not in self._iterations:
            return None
        return super().state_for(operator, copied, target)
