"""Comparisons that write into a condition, counters, arrays, and what else loops are made of."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.alias.absent import refusing
from engine.fluid.layers.adapting import adapter
from engine.fluid.layers.blocks import ConditionalBlock as ConditionalBlock
from engine.fluid.layers.blocks import Switch as Switch
from engine.fluid.layers.blocks import While as While
from engine.fluid.layers.lod.dynamic_rnn import DynamicRNN as DynamicRNN
from engine.fluid.layers.lod.rank_table import lod_rank_table as lod_rank_table
from engine.fluid.layers.lod.rank_table import max_sequence_len as max_sequence_len
from engine.fluid.layers.lod.rank_table import reorder_lod_tensor_by_rank as reorder_lod_tensor_by_rank
from engine.fluid.layers.lod.rows_array import RowsArray
from engine.fluid.layers.nn.python import Print as Print
from engine.fluid.layers.row_branches import IfElse as IfElse
from engine.fluid.layers.static_rnn import StaticRNN as StaticRNN
from engine.fluid.renamed.functions import functions, row
from engine.fluid.values.variable import result
from engine.static.nn import control_flow as modern
from engine.tensor import array, creation, logic, math

COMPARED = "x, y, cond=None"
# fmt: off
ROWS = (
    row("cond", modern.cond, "pred, true_fn=None, false_fn=None, name: str | None = None",
        "The result of ``true_fn()`` where ``pred`` is true, else of ``false_fn()``."),
    row("case", modern.case, "pred_fn_pairs, default=None, name: str | None = None",
        "The result of the function of the first true condition; ``default()`` where none is true."),
    row("switch_case", modern.switch_case, "branch_index, branch_fns, default=None, name: str | None = None",
        "The result of the function whose number ``branch_index`` is."),
    row("while_loop", modern.while_loop,
        "cond, body, loop_vars, is_test: bool = False, name: str | None = None",
        "The last values of ``body(*loop_vars)``, called as long as ``cond(*loop_vars)``."),
    row("Assert", modern.Assert, "cond, data=None, summarize: int = 20, name: str | None = None",
        "Stop the running Program with the values of ``data`` unless ``cond`` is true.", as_is=True),
    row("array_read", array.array_read, "array, i",
        "The tensor at position ``i`` of the array."),
    row("less_than", logic.less_than, "x, y, force_cpu: bool | None = None, cond=None",
        "Whether x is less than y, elementwise; written into ``cond`` where given.",
        unused="force_cpu", into="cond"),
    row("less_equal", logic.less_equal, COMPARED, into="cond"),
    row("greater_than", logic.greater_than, COMPARED, into="cond"),
    row("greater_equal", logic.greater_equal, COMPARED, into="cond"),
    row("equal", logic.equal, COMPARED, into="cond"),
    row("not_equal", logic.not_equal, COMPARED, into="cond"),
)
# fmt: on
globals().update(functions(ROWS, __name__))


def create_array(dtype: Any) -> Any:
    """An array of tensors, empty at first; in a Program its elements may differ in rows and lengths."""
    return RowsArray() if modes.is_static() else array.create_array(dtype)


def array_write(x: Any, i: Any, array: Any = None) -> Any:
    """Put x at position ``i`` of the array, a new one where None; the array."""
    return _write(x, i, create_array(x.dtype) if array is None else array)


@adapter
def is_empty(x: Any, cond: Any = None) -> Any:
    """Whether x has no elements; written into ``cond`` where given."""
    found = logic.is_empty(x)
    return found if cond is None else creation.assign(result(found), cond)


@adapter
def increment(x: Any, value: float = 1.0, in_place: bool = True) -> Any:
    """``x + value`` for a tensor of one element, written into x with ``in_place``."""
    return math.increment(x, value) if in_place else math.add(x, value)


@adapter
def array_length(array: Any) -> Any:
    """How many tensors the array holds: int64 [1]."""
    length = _length(array)
    return creation.full([1], length, "int64") if isinstance(length, int) else length


_length, _write = array.array_length, array.array_write


__getattr__ = refusing("engine.fluid.layers")
