"""Constant folding: values that depend on no input are computed once."""

from __future__ import annotations

from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Program, reads
from engine.program.passes.known_values import Known, computed
from engine.program.passes.rewriter import constant

# The most elements of a value that is stored in the Program as an attribute.
LARGEST = 1024


def fold_constants(program: Program) -> None:
    """Replace operators whose inputs are all constants by their values.

    ::

        a = fill_constant(value=2.0)       b = assign_value(values=[4.0])
        b = square(a)                ->    c = elementwise_mul(x, b)
        c = elementwise_mul(x, b)          return c
        return c
    """
    known, unstable = Known(), None
    for block in program.blocks:
        for place, operator in enumerate(block.ops):
            given = next(reads(operator), None) is None
            if not (given or known):
                continue
            found = computed(operator, known, LARGEST)
            if found and unstable is None:
                unstable = Liveness.of(program).unstable
            known.update((v, array) for v, array in found if v not in (unstable or ()))
            if len(found) == 1 and not given:
                block.ops[place] = constant(operator, *found[0])
                program.changed()
