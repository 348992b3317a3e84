"""Removal of pairs that only observe values: in prediction they return their input."""

from __future__ import annotations

from engine.core.containers.identity import IdentityMap
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.pattern import each
from engine.program.passes.rewriter import Rewriter


def drop_observers(program: Program) -> None:
    """Readers of a pair with ``only_observer`` read its input instead.

    ::

        q = quantize_linear(x, scale, only_observer=True)
        d = dequantize_linear(q, scale, only_observer=True)    ->    y = relu(x)
        y = relu(d)                                                  return y
        return y

    The operators themselves go with the dead code.
    """
    watching = [
        operator
        for _, operator in each(program, "quantize_linear", "dequantize_linear")
        if operator.attrs["only_observer"] and operator.attrs["is_test"]
    ]
    if not watching:
        return
    unstable = Liveness.of(program).unstable
    found: IdentityMap[Variable, Variable] = IdentityMap()
    for operator in watching:
        source, result = operator.inputs[0], operator.outputs[0]
        if source not in unstable and result not in unstable:
            found[result] = found.get(source, source)
    Rewriter(program).substitute(found)
