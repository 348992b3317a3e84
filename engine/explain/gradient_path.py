"""Whether a gradient flows from an input of a Program to an output, and if not, why."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.containers.identity import IdentitySet
from engine.program.backward.walk import depends_on
from engine.program.graph.program import Program, Variable, reads, writes
from engine.program.passes.clone import clone

_QUANTIZES = "quantize_linear"
_FLOATING = ("float", "bfloat")


def not_real(source: str, source_dtype: str, output: str, output_dtype: str) -> str:
    """Why values of these dtypes have no gradients; empty for floating-point numbers."""
    if not source_dtype.startswith(_FLOATING):
        if source_dtype.startswith("complex"):
            return f"the input {source!r} has {source_dtype}: maps are of real numbers only"
        return f"the input {source!r} has {source_dtype}: integers have no gradients"
    if not output_dtype.startswith(_FLOATING):
        if output_dtype.startswith("complex"):
            return f"the output {output!r} has {output_dtype}: maps are of real numbers only"
        return f"the output {output!r} has {output_dtype}: integers have no gradients"
    return ""


def with_gradients(program: Program, inputs: Sequence[Variable]) -> Program:
    """The Program, or a copy in which gradients flow to the inputs where they stop there.

    Other programs save models whose inputs stop gradients, and so does all that is computed of them before
    the first parameter. Where the inputs take gradients, the rest stops them on purpose.
    """
    if not any(v.stop_gradient and v.dtype.is_inexact for v in inputs):
        return program
    made = clone(program)
    for block in made.blocks:
        for variable in block.vars.values():
            if not variable.persistable and variable.dtype.is_inexact:
                variable.stop_gradient = False
    made.changed()
    return made


def why_no_gradient(program: Program, source: Variable, output: Variable) -> str:
    """Why no gradient of ``output`` with respect to ``source`` exists; empty where it does."""
    if why := not_real(source.name, source.dtype.name, output.name, output.dtype.name):
        return why
    ops = program.global_block().ops
    reached = IdentitySet([source])  # by values of any kind
    for operator in ops:
        if any(v in reached for v in reads(operator)):
            if operator.opdef.name == _QUANTIZES:
                return "the model is quantized: it computes with integers, and integers have no gradients"
            reached.update(writes(operator))
    if output not in reached:
        return f"the output {output.name!r} does not depend on the input {source.name!r}"
    stops = IdentitySet(v for o in ops for v in writes(o) if not v.dtype.is_inexact)
    flows = depends_on(ops, [source], stops)
    if output in flows:
        return ""
    needed = IdentitySet([output])
    for operator in reversed(ops):
        if any(v in needed for v in writes(operator)):
            needed.update(reads(operator))
    for operator in ops:
        for lost in writes(operator):
            if lost in needed and lost not in flows and any(v in flows for v in reads(operator)):
                if lost.dtype.is_inexact:
                    return f"{operator.opdef.name} on the way to the output has no gradient"
                return (
                    f"{operator.opdef.name} on the way to the output gives integers, which have no gradients"
                )
    return f"no gradient flows from {source.name!r} to {output.name!r}"
