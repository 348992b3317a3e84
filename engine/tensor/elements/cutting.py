"""Parts of a Tensor whose lengths only the running Program knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError
from engine.core.operators.infer import normal_axis
from engine.ops.control import flow as control
from engine.program.graph.unknown import known_operand
from engine.tensor.arguments.sizes import is_later
from engine.tensor.elements import indexing
from engine.tensor.tensor_like import AnyTensor


def cut_later(x: AnyTensor, axis: int, num_or_sections: int | Sequence[Any]) -> list[Any]:
    """x cut along ``axis`` into equal parts, or into parts of given lengths, one of which may be -1.

    Fails when the Program runs and the dimension has another size.
    """
    axis = normal_axis("split", axis, x.ndim)
    size = known_operand(x.shape[axis])
    if isinstance(num_or_sections, int):
        if num_or_sections < 1:
            raise ArgumentError(f"split: {num_or_sections} parts; give at least 1")
        each = size // num_or_sections
        lengths, total = [each] * num_or_sections, each * num_or_sections
    else:
        lengths = [known_operand(length) for length in num_or_sections]
        unsaid = [n for n, length in enumerate(lengths) if not is_later(length) and length == -1]
        if len(unsaid) > 1:
            raise ArgumentError(f"split: sections {list(num_or_sections)}; one may be -1")
        total = sum(length for n, length in enumerate(lengths) if n not in unsaid)
        if unsaid:
            lengths[unsaid[0]] = size - total
            total = size
    if is_later(fits := total == size):
        shown = [size] if is_later(size) else []
        control.check(fits, shown, message=f"split: dimension {axis} does not divide into these parts")
    parts = []
    start: Any = 0
    for length in lengths:
        stop = start + length
        parts.append(indexing.getitem(x, (*[slice(None)] * axis, slice(start, stop))))
        start = stop
    return parts
