"""What Python's built-in functions give for rows of a Tensor or elements of a tensor array, as operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import EngineError
from engine.eager.tensor import Tensor
from engine.ops.elementwise import comparison
from engine.program.graph.program import Variable
from engine.tensor import manipulation, math, search
from engine.tensor.arrays.tensor_array import TensorArray
from engine.tensor.reductions import reduction
from engine.tensor.tensor_like import AnyTensor


def reduced(name: str, value: AnyTensor | TensorArray) -> Any:
    """`sum` of rows of any shape, `any`, `all`, `max` and `min` of numbers; None for what has no operator."""
    rows: Any = value
    if isinstance(value, TensorArray):
        leaves = value.leaves()
        if len(leaves) != 1:
            return None
        rows = leaves[0]
    if name == "sum":
        return math.cast(reduction.sum(rows, axis=0), rows.dtype) if rows.dtype.name != "bool" else None
    if rows.ndim != 1:
        return None
    if name in ("any", "all"):
        function = reduction.any if name == "any" else reduction.all
        return function(rows if rows.dtype.name == "bool" else math.cast(rows, "bool"))
    # The element itself, and of equal ones the first: its gradient is Python's.
    place = reduction.argmax(rows) if name == "max" else reduction.argmin(rows)
    return rows[place]


def in_order(items: Sequence[Any] | TensorArray, reverse: bool) -> Any:
    """Numbers in order, as a list or tensor array like the one given; the reason as text."""
    try:
        array = items if isinstance(items, TensorArray) else TensorArray.of(items, items[0])
        (leaf,) = leaves if len(leaves := array.leaves()) == 1 else (None,)
    except EngineError as error:
        return str(error)
    if leaf is None or leaf.ndim != 1:
        return "its items are not single numbers"
    made = search.sort(leaf, descending=bool(reverse))
    return items.with_leaves([made]) if isinstance(items, TensorArray) else manipulation.unbind(made)


def holds(container: AnyTensor | TensorArray, value: object) -> Any:
    """Whether a number is among the elements of a Tensor without rows of rows, or of an array of numbers."""
    rows: Any = container
    if isinstance(container, TensorArray):
        rows = leaves[0] if len(leaves := container.leaves()) == 1 else None
    if rows is None or rows.ndim != 1:
        return None
    if isinstance(value, bool | int | float):
        return reduction.any(rows == value)
    fits = isinstance(value, Variable | Tensor) and value.ndim == 0
    return reduction.any(comparison.equal(rows, value)) if fits else None
