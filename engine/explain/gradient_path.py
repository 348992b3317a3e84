"""Whether a gradient flows from an input of a Program to an output, and if not, why."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.containers.identity import IdentitySet
from engine.program.backward.walk import depends_on
from engine.program.graph.program import Program, Variable, reads, writes
from engine.program.passes.clone import clone

_QUANTIZES = ("quantize_linear", "fake_quantize")
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


class GradientPaths:
    """Which values of a Program gradients flow back from to one input."""

    def __init__(self, program: Program, source: Variable) -> None:
        self._source, self._ops = source, program.global_block().ops
        self._reached = IdentitySet([source])  # by values of any kind
        self._quantized = False
        for operator in self._ops:
            if any(v in self._reached for v in reads(operator)):
                self._quantized |= operator.opdef.name.startswith(_QUANTIZES)
                self._reached.update(writes(operator))
        integers = IdentitySet(v for o in self._ops for v in writes(o) if not v.dtype.is_inexact)
        self._flows = depends_on(self._ops, [source], integers)

    def why_not(self, output: Variable) -> str:
        """Why no gradient of ``output`` with respect to the input exists; empty where it does."""
        source = self._source
        if why := not_real(source.name, source.dtype.name, output.name, output.dtype.name):
            return why
        if self._quantized:
            return "the model is quantized: it computes with integers, and integers have no gradients"
        if output not in self._reached:
            return f"the output {output.name!r} does not depend on the input {source.name!r}"
        return "" if output in self._flows else self._lost(output)

    def _lost(self, output: Variable) -> str:
        """The first operator on the way to ``output`` that gradients don't flow through."""
        needed = IdentitySet([output])
        for operator in reversed(self._ops):
            if any(v in needed for v in writes(operator)):
                needed.update(reads(operator))
        for operator in self._ops:
            for lost in writes(operator):
                stops = lost in needed and lost not in self._flows
                if stops and any(v in self._flows for v in reads(operator)):
                    name = operator.opdef.name
                    if lost.dtype.is_inexact:
                        return f"{name} on the way to the output has no gradient"
                    return f"{name} on the way to the output gives integers, which have no gradients"
        return f"no gradient flows from {self._source.name!r} to {output.name!r}"
