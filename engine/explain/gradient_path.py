"""Whether a gradient flows from an input of a Program to an output, and if not, why."""

from __future__ import annotations

from engine.core.containers.identity import IdentitySet
from engine.program.backward.walk import depends_on
from engine.program.graph.program import Program, Variable, reads, writes

_QUANTIZES = "quantize_linear"
INTEGERS = "integers have no gradients"


def why_no_gradient(program: Program, source: Variable, output: Variable) -> str:
    """Why no gradient of ``output`` with respect to ``source`` exists; empty where it does."""
    for name, variable in (("input", source), ("output", output)):
        if not variable.dtype.is_inexact:
            return f"the {name} {variable.name!r} has {variable.dtype.name}: {INTEGERS}"
        if variable.dtype.np.kind == "c":
            return f"the {name} {variable.name!r} has {variable.dtype.name}: maps are of real numbers only"
    ops = program.global_block().ops
    reached = IdentitySet([source])  # by values of any kind
    for operator in ops:
        if any(v in reached for v in reads(operator)):
            if operator.opdef.name == _QUANTIZES:
                return f"the model is quantized: it computes with integers, and {INTEGERS}"
            reached.update(writes(operator))
    if output not in reached:
        return f"the output {output.name!r} does not depend on the input {source.name!r}"
    # Of a loaded Program no Variable but its inputs stops gradients; an integer does all the same.
    stops = IdentitySet(v for o in ops for v in writes(o) if not v.dtype.is_inexact)
    flows = depends_on(ops, [source], stops)
    if output in flows:
        return ""
    for operator in ops:
        if any(v in flows for v in reads(operator)) and not any(v in flows for v in writes(operator)):
            return f"the operator {operator.opdef.name} on the way to {output.name!r} has no gradient"
    return f"no gradient flows from {source.name!r} to {output.name!r}"
