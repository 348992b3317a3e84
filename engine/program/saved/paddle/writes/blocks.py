"""The operators of a block, one after the other; those that Paddle does not have are collected."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.layer_calls import as_scope
from engine.core.operators.operator import Operator
from engine.core.program_desc import Attr, AttrType
from engine.program.graph.program import Block, Variable
from engine.program.saved.paddle.writes.generic import write_generic
from engine.program.saved.paddle.writes.recurrent import join
from engine.program.saved.paddle.writes.rows import ROWS
from engine.program.saved.paddle.writes.writing import UnwritableError, Writing


def write_block(w: Writing, block: Block, outputs: Sequence[Variable]) -> None:
    """Append the operators of ``block``, after which ``outputs`` are read. Operators that can't be written
    are added to ``w.faults``."""
    join(w, block, outputs)
    for operator in block.ops:
        before = len(w.desc.ops)
        write_operator(w, operator)
        if operator.layer:
            scope = Attr(AttrType.STRING, as_scope(operator.layer))
            for desc in w.desc.ops[before:]:
                desc.attrs.setdefault("op_namescope", scope)


def write_operator(w: Writing, operator: Operator) -> None:
    if id(operator) in w.joined:
        w.joined[id(operator)](w)
        return
    try:
        ROWS.get(operator.opdef.name, write_generic)(w, operator)
    except UnwritableError as error:
        w.faults.setdefault((operator.opdef.name, str(error)), []).append(operator.where())
        for variable in operator.outputs or ():
            if variable is not None and not isinstance(variable, list) and w.naming.of(variable) is None:
                w.declare(variable)
