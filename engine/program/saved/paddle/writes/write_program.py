"""A Program as a ProgramDesc of Paddle 2.6.2, with the operators that feed and fetch."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from engine.core.errors import ArgumentError
from engine.core.program_desc import Attr, AttrType, OpDesc, ProgramDesc, VarDesc
from engine.core.values.var_type import VarType
from engine.program.graph.program import Program
from engine.program.passes.clone import clone
from engine.program.passes.dead_code import remove_dead_code
from engine.program.passes.fold_constants import fold_constants
from engine.program.passes.inference import inference_program
from engine.program.saved.paddle import writes
from engine.program.saved.paddle.writes.blocks import write_block
from engine.program.saved.paddle.writes.writing import ROLES, Naming, Writing

FEED, FETCH = "feed", "fetch"


def write_program(program: Program, where: str) -> ProgramDesc:
    """The ProgramDesc of a Program as ``jit.save`` writes it. Inputs, outputs and weights keep their names.

    Raises ArgumentError, naming ``where``, for operators that Paddle does not have: all of them, with their
    lines in the user's code.
    """
    _import_rows()
    prepared = _prepared(program)
    block = prepared.global_block()
    desc, naming = ProgramDesc([]), Naming()
    w = Writing(desc, naming)
    for name in (FEED, FETCH):
        naming.free(name)
    outputs = [block.var(name) for name in prepared.outputs]
    kept = [block.var(name) for name in prepared.inputs] + [v for v in block.vars.values() if v.persistable]
    for variable in kept:
        w.declare(variable)
        made = w.desc.vars[-1]
        made.persistable, made.need_check_feed = variable.persistable, not variable.persistable
    write_block(w, block, outputs)
    _require_all(w, where)
    ops, w.desc.ops = w.desc.ops, []
    for column, name in reversed(list(enumerate(prepared.inputs))):  # Paddle's jit.load reverses them
        w.desc.ops.append(_frame("feed", FEED, w.name(block.var(name)), column))
    w.desc.ops += ops
    fetched = {w.name(variable) for variable in kept}
    for column, variable in enumerate(outputs):
        name = w.name(variable)
        if name in fetched:  # a fed value, a weight, or an output that is given twice
            name = w.unary("assign", variable)
        fetched.add(name)
        w.desc.ops.append(_frame("fetch", name, FETCH, column))
    for name, kind in ((FEED, VarType.FEED_MINIBATCH), (FETCH, VarType.FETCH_LIST)):
        w.desc.vars.append(VarDesc(name, kind.value, persistable=True))
    return desc


@cache
def _import_rows() -> None:
    """Fill ROWS: each file of this package adds its own."""
    for module in pkgutil.iter_modules(writes.__path__, f"{writes.__name__}."):
        import_module(module.name)


def _prepared(program: Program) -> Program:
    """A copy with constants folded, and without what the outputs do not need; all weights stay."""
    made = clone(program)
    made.outputs = list(program.outputs)
    remove_dead_code(made)
    fold_constants(made)
    remove_dead_code(made)
    block = made.global_block()
    inputs, outputs = ([block.var(name) for name in names] for names in (made.inputs, made.outputs))
    return inference_program(made, inputs, outputs)


def _frame(type: str, source: str, target: str, column: int) -> OpDesc:
    return OpDesc(type, {"X": [source]}, {"Out": [target]}, {"col": Attr(AttrType.INT, column), **ROLES})


def _require_all(w: Writing, where: str) -> None:
    if not w.faults:
        return
    found = "; ".join(
        f"{name} ({reason}) at {', '.join(dict.fromkeys(line or 'an unknown line' for line in lines))}"
        for (name, reason), lines in sorted(w.faults.items())
    )
    raise ArgumentError(f"{where}: Paddle 2.6.2 can't express these operators, nothing was written: {found}")
