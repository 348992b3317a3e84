"""Reuse of arrays: operators that may write the result into the array of an input that is not read again."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import lru_cache
from typing import Any

from engine.core.operator import Operator
from engine.core.spec import Spec
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Variable, variables_of


def reusable(
    live: Liveness,
    outputs: Sequence[Variable],
    specs: Mapping[int, Spec],
    known: Container[int] = (),
) -> dict[int, list[Variable | None]]:
    """For operators (by id) the input whose array each output may be written into, or None.

    Only arrays that an operator of the plan created in this call (not the constants ``known``, by id, to all
    calls), that no view uses later, and that have the shape and dtype of the result. Where the operator reads
    a view of the array as well, an element would be read after another has been written in its place. Values
    that control flow reads or returns may share an array, so they are excluded.
    """
    base, end = live.base, live.ends
    locked = live.owners(outputs) | live.handed_on
    owned: set[int] = set()
    found: dict[int, list[Variable | None]] = {}
    for position, operator in enumerate(live.ops):
        opdef = operator.opdef
        if opdef.has_out and (opdef.listed or opdef.single) and not opdef.outputs[0].writes:
            read = list(variables_of(operator.inputs))
            viewed = {base[id(v)] for v in read if id(v) in base}
            free = [
                v for v in read if id(v) in owned and id(v) not in locked | viewed and end[id(v)] == position
            ]
            into: list[Variable | None] = []
            for number, result in enumerate(operator.outputs):
                wanted = specs.get(id(result))
                taken = None
                if wanted is not None and wanted.known and wanted.ndim:
                    fits = (v for v in free if specs.get(id(v)) == wanted and _is_read(operator, v, number))
                    taken = next(fits, None)
                if taken is not None:
                    free = [v for v in free if v is not taken]
                into.append(taken)
            if any(v is not None for v in into):
                found[id(operator)] = into
        if not opdef.view:
            made = variables_of(operator.outputs)
            owned |= {id(v) for v in made if not (v.persistable or id(v) in known)}
    return found


def _is_read(operator: Operator, variable: Variable, number: int) -> bool:
    """Whether the operator has read ``variable`` when it writes output ``number``, at the latest."""
    steps = operator.attrs.get("steps")
    if steps is None:
        return True
    inputs = operator.inputs[0]
    place = next(n for n, v in enumerate(inputs) if v is variable)
    last = max(n for n, (_, read, _) in enumerate(steps) if place in read)
    made: int = operator.attrs["outputs"][number] - len(inputs)
    return last <= made


def fitting(target: Any, *others: Any) -> Any:
    """``target``, or None where an elementwise kernel that makes its own result would lay it out otherwise.

    Sums add in the order of memory, so a gradient of another layout differs by a rounding. A training
    with batch normalization over few values makes that large (a MobileNet's loss by 1% in a few steps).
    """
    strides = target.strides
    for other in others:
        if other.strides != strides and other.shape == target.shape:
            return None
    return target if _dense(strides, target.shape, target.itemsize) else None


@lru_cache(maxsize=4096)
def _dense(strides: tuple[int, ...], shape: tuple[int, ...], itemsize: int) -> bool:
    """True if the elements are contiguous, in any order of the axes."""
    step = itemsize
    for stride, length in sorted((s, n) for s, n in zip(strides, shape, strict=True) if n != 1):
        if stride != step:
            return False
        step *= length
    return True
