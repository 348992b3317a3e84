"""A saved Program for inputs of other shapes than it was saved with."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.values.spec import Spec
from engine.program.graph.program import Program, Variable
from engine.program.passes.clone import clone
from engine.program.run.concrete import concrete_specs


def resized(program: Program, inputs: Sequence[Variable], specs: Sequence[Spec]) -> Program:
    """A copy whose inputs have other Specs, -1 where any size goes, and whose results have what follows.

    Raises the error of an operator that does not take the shapes.
    """
    made = clone(program)
    block = made.global_block()
    feeds = {v.name: spec for v, spec in zip(inputs, specs, strict=True)}
    known = concrete_specs(made, block.ops, feeds)
    for variable in block.vars.values():
        variable.spec = known.get(id(variable), variable.spec)
    for operator in block.ops:
        for region in operator.regions:  # what they compute is known when they run
            for each in (*region.block.vars.values(), *operator.outputs):
                if isinstance(each, Variable) and id(each) not in known:
                    each.spec = Spec([-1] * each.spec.ndim, each.spec.dtype)
    made.changed()
    return made
