"""Pruning for prediction: selects the operators that lead from fed to fetched Variables, without training."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.errors import ArgumentError
from engine.program.graph.liveness import arguments, leading, reads_inside, sub_blocks
from engine.program.graph.program import Block, Program, Variable, writes
from engine.program.passes.clone import clone
from engine.program.passes.inference import inference_program


def pruned(source: Program, feeds: Sequence[Variable], fetches: Sequence[Variable], where: str) -> Program:
    """Before: a whole Program. After: the operators that ``fetches`` need from ``feeds``, in inference mode.

    Effects (updates of metrics, printing) that no fetch reads are omitted. If operators compute a fed
    Variable, those operators are omitted. Raises ArgumentError, beginning with ``where``, for a
    fetch that needs data which is not fed, or that nothing computes.
    """
    made = clone(source, for_test=True)
    block = made.global_block()
    inputs = [_own(block, v, where) for v in feeds]
    outputs = [made.latest(_own(block, v, where)) for v in fetches]
    for variable in inputs:
        variable.is_data = True
    block.ops = leading(block.ops, inputs, outputs)
    computed = {id(v) for o in block.ops for v in writes(o)}
    for variable in outputs:
        if not (id(variable) in computed or variable.is_data or variable.persistable):
            raise ArgumentError(
                f"{where}: fetch {variable.name!r} {variable.spec} is computed only while training; fetch "
                "what the forward part computes"
            )
    read = {v.name: v for o in block.ops for v in arguments(o)}
    read |= {v.name: v for o in block.ops for b in sub_blocks(o) for v in reads_inside(b)}
    read |= {v.name: v for v in outputs}
    given = {id(v) for v in inputs}
    absent = [n for n, v in read.items() if v.is_data and v.block is block and id(v) not in given]
    if absent:
        raise ArgumentError(
            f"{where}: the fetched {[v.name for v in outputs]} depend on {absent}, which feed_vars does not "
            "have; add them, or fetch Variables that do not depend on them"
        )
    result = inference_program(made, inputs, outputs)
    for each in result.blocks:
        each.vars = dict(sorted(each.vars.items()))  # as Paddle lists them, which takes them from a map
    return result


def _own(block: Block, variable: Variable, where: str) -> Variable:
    found = block.vars.get(variable.name)
    if found is None:
        raise ArgumentError(
            f"{where}: {variable.name!r} {variable.spec} is not a Variable of the Program, or only of its "
            "training; pass the Program that it belongs to as program="
        )
    return found
