"""Reuse of arrays: operators that may write the result into the array of an input that is not read again."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import lru_cache
from typing import Any

from engine.core.operator import Operator
from engine.core.spec import Spec
from engine.program.graph.liveness import last_uses
from engine.program.graph.program import Variable, variables_of


def reusable(
    ops: Sequence[Operator],
    outputs: Sequence[Variable],
    specs: Mapping[int, Spec],
    known: Container[int] = (),
) -> dict[int, Variable]:
    """The input whose array an operator (by id) may write into.

    Only arrays that an operator of the plan made in this call (not the constants ``known``, by id, to all
    calls), that no view uses later, and that have the shape and dtype of the result. Values that control flow
    reads or returns may share an array, so they are left out.
    """
    last = last_uses(ops)
    base = bases_of(ops)
    end: dict[int, int] = {}
    for key, position in last.items():
        root = base.get(key, key)
        end[root] = max(end.get(root, -1), position)
    kept = {base.get(id(v), id(v)) for v in outputs} | handed_on(ops)
    owned: set[int] = set()
    found: dict[int, Variable] = {}
    for position, operator in enumerate(ops):
        opdef = operator.opdef
        if opdef.has_out and opdef.single and not opdef.outputs[0].writes:
            wanted = specs.get(id(operator.outputs[0]))
            for variable in variables_of(operator.inputs):
                key = id(variable)
                free = key in owned and key not in kept and end[key] == position
                if free and wanted is not None and wanted.known and wanted.ndim and specs.get(key) == wanted:
                    found[id(operator)] = variable
                    break
        if not opdef.view:
            made = variables_of(operator.outputs)
            owned |= {id(v) for v in made if not (v.persistable or id(v) in known)}
    return found


def bases_of(ops: Sequence[Operator]) -> dict[int, int]:
    """The Variable (by id) that owns the array of each view."""
    base: dict[int, int] = {}
    for operator in ops:
        if operator.opdef.view:
            source = id(operator.inputs[0])
            base[id(operator.outputs[0])] = base.get(source, source)
    return base


def handed_on(ops: Sequence[Operator]) -> set[int]:
    """The values that control flow reads and returns, by id of the Variable that owns the array.

    A branch may return a captured value, and a loop without iterations returns its initial values.
    """
    base = bases_of(ops)
    return {
        base.get(id(v), id(v))
        for operator in ops
        if operator.regions
        for v in (*variables_of(operator.inputs), *variables_of(operator.outputs))
    }


def fitting(target: Any, *others: Any) -> Any:
    """``target``, or None where an elementwise kernel that makes its own result would lay it out otherwise.

    Sums add in the order of memory, so a gradient that lies differently differs by a rounding. A training
    with batch normalization over few values makes that large (a MobileNet's loss by 1% in a few steps).
    """
    strides = target.strides
    for other in others:
        if other.strides != strides and other.shape == target.shape:
            return None
    return target if _dense(strides, target.shape, target.itemsize) else None


@lru_cache(maxsize=4096)
def _dense(strides: tuple[int, ...], shape: tuple[int, ...], itemsize: int) -> bool:
    """True where the elements lie side by side, in whatever order of the axes."""
    step = itemsize
    for stride, length in sorted((s, n) for s, n in zip(strides, shape, strict=True) if n != 1):
        if stride != step:
            return False
        step *= length
    return True
