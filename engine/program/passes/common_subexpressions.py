"""Common subexpressions: a value that is computed twice is computed once."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property

from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.operators.operator import Operator
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Block, Program, reads, variables_of
from engine.program.graph.variable import Variable
from engine.program.passes.rewriter import Rewriter, frozen, is_pure


def merge_common_subexpressions(program: Program) -> None:
    """Merge operators with the same inputs and attributes, except random ones and effects.

    ::

        a = exp(x)                     a = exp(x)
        b = exp(x)           ->        c = elementwise_mul(a, a)
        c = elementwise_mul(a, b)      return c
        return c
    """
    search = _Search(program)
    search.walk(program.global_block(), {})
    Rewriter(program).substitute(search.found)


class _Search:
    """Finds replacements for the results of operators that are run twice."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.found: IdentityMap[Variable, Variable] = IdentityMap()

    def walk(self, block: Block, known: dict[Hashable, tuple[Operator, ...]]) -> None:
        """Look at the operators of ``block``, around which those ``known`` are run."""
        for operator in block.ops:
            for region in operator.regions:
                self.walk(region.block, dict(known))
            if not is_pure(operator):
                continue
            # Most have no twin, which their inputs show: attributes are compared where these are equal.
            key = (operator.opdef.name, frozen(operator.inputs, lambda v: id(self.found.get(v, v))))
            earlier = known.get(key, ())
            outputs = list(variables_of(operator.outputs))
            first = next((o for o in earlier if self._same(o, operator)), None)
            if first is None:
                known[key] = (*earlier, operator)
            elif not any(v.persistable for v in outputs):
                self.found.update(zip(outputs, variables_of(first.outputs), strict=True))

    def _same(self, one: Operator, other: Operator) -> bool:
        """Whether operators with the same inputs give the same results, at any position."""
        try:
            if frozen(one.attrs) != frozen(other.attrs):
                return False
        except TypeError:  # an attribute that can't be compared
            return False
        stops = [[v.stop_gradient for v in variables_of(o.outputs)] for o in (one, other)]
        touched = [v for o in (one, other) for v in (*reads(o), *variables_of(o.outputs))]
        return stops[0] == stops[1] and not any(v in self._unstable for v in touched)

    @cached_property
    def _unstable(self) -> IdentitySet[Variable]:
        return Liveness.of(self.program).unstable
