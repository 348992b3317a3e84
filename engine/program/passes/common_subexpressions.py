"""Common subexpressions: a value that is computed twice is computed once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from engine.core.identity import IdentityMap, IdentitySet
from engine.core.operator import Operator
from engine.program.graph.liveness import with_sub_blocks
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
    found: IdentityMap[Variable, Variable] = IdentityMap()
    _merge(program.global_block(), {}, found, changing(program))
    Rewriter(program).substitute(found)


def changing(program: Program) -> IdentitySet[Variable]:
    """Variables whose value may differ from read to read: those written in place or more than once, those
    that come from outside and are written, and views of all these."""
    found: IdentitySet[Variable] = IdentitySet()
    once: IdentitySet[Variable] = IdentitySet()
    operators = list(with_sub_blocks(program.global_block().ops))
    for operator in operators:
        opdef = operator.opdef
        for n, variable in enumerate(operator.outputs):
            if isinstance(variable, Variable):
                outside = variable.persistable or variable.is_data
                if outside or variable in once or (not opdef.listed and opdef.outputs[n].writes):
                    found.add(variable)
                once.add(variable)
    if found:
        for operator in operators:
            if operator.opdef.view and any(v in found for v in reads(operator)):
                found.update(variables_of(operator.outputs))
    return found


def _merge(
    block: Block,
    known: dict[Hashable, Operator],
    found: IdentityMap[Variable, Variable],
    unstable: IdentitySet[Variable],
) -> None:
    for operator in block.ops:
        for region in operator.regions:  # a block may reuse what the blocks around it have computed
            _merge(region.block, dict(known), found, unstable)
        outputs = list(variables_of(operator.outputs))
        if not is_pure(operator) or any(v in unstable for v in (*reads(operator), *outputs)):
            continue
        inputs = frozen(operator.inputs, lambda v: id(found.get(v, v)))
        stops = tuple(v.stop_gradient for v in outputs)
        try:
            first = known.setdefault((operator.opdef.name, inputs, frozen(operator.attrs), stops), operator)
        except TypeError:  # an attribute that can't be compared
            continue
        if first is not operator and not any(v.persistable for v in outputs):
            pairs: list[tuple[Any, Any]] = list(zip(outputs, variables_of(first.outputs), strict=True))
            found.update(pairs)
