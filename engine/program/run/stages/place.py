"""The third stage of a plan: whose array a result is written into, and when arrays are let go of.

All other results are allocated by malloc, which hands out memory that is still in the cache (measured:
buffers planned in advance made LeNet's step 12 to 17% slower, see decision 0011).
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from functools import lru_cache
from typing import Any

from engine.core.operators.operator import Operator
from engine.program.graph.program import Variable, variables_of
from engine.program.run.stages.draft import Draft


def place(draft: Draft) -> Draft:
    """The draft with ``reused``, ``dying`` and ``copied``.

    ::

        a = relu(x)            a = relu(x)
        b = exp(a)       ->    b = exp(a, out=a); a = None
        return b, x            return b, x.copy()
    """
    known = draft.constants
    return replace(
        draft, reused=reusable(draft), dying=dying(draft, known), copied=copied(draft, known.keys())
    )


def dying(draft: Draft, known: Container[int]) -> dict[int, list[Variable]]:
    """By position the values that no later operator reads; ``known`` ones, by id, stay for all calls.

    Arguments are among them only where the plan consumes them.
    """
    last, keep = draft.live.last, {id(v) for v in draft.outputs}
    found: dict[int, dict[int, Variable]] = {}

    def ends(variable: Variable) -> None:
        position = last.get(id(variable))
        if position is not None and id(variable) not in keep:
            found.setdefault(position, {})[id(variable)] = variable

    for operator in draft.ops:
        for variable in variables_of(operator.outputs):
            if not (variable.persistable or id(variable) in known):
                ends(variable)
    if draft.consumes:
        for variable in draft.inputs:
            ends(variable)
    return {position: list(values.values()) for position, values in found.items()}


def copied(draft: Draft, known: Container[int]) -> frozenset[int]:
    """The numbers of the outputs that may share their array with an argument, or with a known value."""
    live = draft.live
    given = {id(v) for v in draft.inputs} | live.handed_on
    owners = enumerate(map(live.owner, draft.outputs))
    return frozenset(n for n, owner in owners if owner in given or owner in known)


def reusable(draft: Draft) -> dict[int, list[Variable | None]]:
    """For operators (by id) the input whose array each output may be written into, or None.

    Only arrays that an operator of the plan created in this call (not the constants of all calls), that no
    view uses later, and that have the shape and dtype of the result. Where the operator reads a view of the
    array as well, an element would be read after another has been written in its place. Values that control
    flow reads or returns may share an array, so they are excluded.
    """
    live, specs, known = draft.live, draft.specs, draft.constants
    base, end = live.base, live.ends
    locked = live.owners(draft.outputs) | live.handed_on
    owned: set[int] = set()
    found: dict[int, list[Variable | None]] = {}
    for position, operator in enumerate(live.ops):
        opdef = operator.opdef
        if opdef.has_out and not opdef.outputs[0].writes:
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
