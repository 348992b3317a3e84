"""Dead code: operators that no output and no effect depends on."""

from __future__ import annotations

from engine.core.operators.operator import Operator
from engine.program.graph.liveness import needed, with_sub_blocks
from engine.program.graph.program import Block, Program, variables_of
from engine.program.graph.variable import Variable
from engine.program.passes.rewriter import Rewriter


def remove_dead_code(program: Program) -> None:
    """Remove operators whose results nothing needs, in branches and loops too.

    ::

        a = relu(x)                    b = tanh(x)
        b = tanh(x)          ->        return b
        return b
    """
    block = program.global_block()
    persistable = [v for v in block.vars.values() if v.persistable]  # for the next run
    dead = _dead(block, [*(block.var(name) for name in program.outputs), *persistable])
    if dead:
        Rewriter(program).erase(dead)


def _dead(block: Block, wanted: list[Variable]) -> list[Operator]:
    if block.idx:  # a plan runs sub-blocks unpruned: without a draw, later draws would differ
        for operator in block.ops:  # the gradient of a loop reads the stored iterations
            within = with_sub_blocks((operator,))
            if any(each.opdef.random or each.saved_state is not None for each in within):
                wanted = [*wanted, *variables_of(operator.outputs)]
    live = needed(block.ops, wanted)
    ids = set(map(id, live))
    dead = [operator for operator in block.ops if id(operator) not in ids]
    for operator in live:
        for region in operator.regions:
            dead += _dead(region.block, list(region.results))
    return dead
