"""Comparisons that write into a condition, counters, arrays, and what else loops are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.alias.absent import refusing
from engine.fluid.layers.adapting import adapter, called
from engine.fluid.layers.blocks import Switch as Switch
from engine.fluid.layers.blocks import While as While
from engine.fluid.layers.row_branches import IfElse as IfElse
from engine.fluid.layers.static_rnn import StaticRNN as StaticRNN
from engine.fluid.variable import result
from engine.static import metrics
from engine.static.nn import control_flow as modern
from engine.tensor import array, creation, logic, math


def _comparison(name: str, compare: Callable[..., Any]) -> Callable[..., Any]:
    """fluid's ``name(x, y, cond=None)``; the result is written into ``cond`` where given."""

    def function(x: Any, y: Any, cond: Any = None) -> Any:
        found = result(compare(x, y))
        return found if cond is None else creation.assign(found, cond)

    return called(function, name, compare)


less_equal = _comparison("less_equal", logic.less_equal)
greater_than = _comparison("greater_than", logic.greater_than)
greater_equal = _comparison("greater_equal", logic.greater_equal)
equal = _comparison("equal", logic.equal)
not_equal = _comparison("not_equal", logic.not_equal)


def less_than(x: Any, y: Any, force_cpu: bool | None = None, cond: Any = None) -> Any:
    """Whether x is less than y, elementwise; written into ``cond`` where given."""
    found = result(logic.less_than(x, y))
    return found if cond is None else creation.assign(found, cond)


@adapter
def is_empty(x: Any, cond: Any = None) -> Any:
    """Whether x has no elements; written into ``cond`` where given."""
    found = logic.is_empty(x)
    return found if cond is None else creation.assign(result(found), cond)


@adapter
def increment(x: Any, value: float = 1.0, in_place: bool = True) -> Any:
    """``x + value`` for a tensor of one element, written into x with ``in_place``."""
    return math.increment(x, value) if in_place else math.add(x, value)


def create_array(dtype: Any) -> Any:
    """An array of tensors, empty at first."""
    return array.create_array(dtype)


def array_write(x: Any, i: Any, array: Any = None) -> Any:
    """Put x at position ``i`` of the array, a new one where None; the array."""
    return _write(x, i, array)


_write = array.array_write


@adapter
def array_read(array: Any, i: Any) -> Any:
    """The tensor at position ``i`` of the array."""
    return _read(array, i)


_read = array.array_read


@adapter
def array_length(array: Any) -> Any:
    """How many tensors the array holds: int64 [1]."""
    length = _length(array)
    return creation.full([1], length, "int64") if isinstance(length, int) else length


_length = array.array_length


def Print(
    input: Any,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = -1,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> Any:
    """``input``; it is printed when the Program runs, with what the other arguments ask for."""
    return metrics.Print(
        input,
        first_n,
        message,
        summarize,
        print_tensor_name,
        print_tensor_type,
        print_tensor_shape,
        True,
        print_tensor_lod,
        print_phase,
    )


@adapter
def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """The result of ``true_fn()`` where ``pred`` is true, else of ``false_fn()``."""
    return modern.cond(pred, true_fn, false_fn, name)


@adapter
def case(pred_fn_pairs: Any, default: Any = None, name: str | None = None) -> Any:
    """The result of the function of the first true condition; ``default()`` where none is true."""
    return modern.case(pred_fn_pairs, default, name)


@adapter
def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str | None = None) -> Any:
    """The result of the function whose number ``branch_index`` is."""
    return modern.switch_case(branch_index, branch_fns, default, name)


@adapter
def while_loop(cond: Any, body: Any, loop_vars: Any, is_test: bool = False, name: str | None = None) -> Any:
    """The last values of ``body(*loop_vars)``, called as long as ``cond(*loop_vars)``."""
    return modern.while_loop(cond, body, loop_vars, is_test, name)


def Assert(cond: Any, data: Any = None, summarize: int = 20, name: str | None = None) -> Any:
    """Stop the running Program with the values of ``data`` unless ``cond`` is true."""
    return modern.Assert(cond, data, summarize, name)


__getattr__ = refusing("engine.fluid.layers")
