"""The row of what a network stores in its buffers while it runs."""

from __future__ import annotations

from engine.core.errors import ArgumentError
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import reads


@writes("assign_into")
def _(g: Graph, target: Value, value: Value) -> Value:
    """A model of ONNX stores nothing, which is right where each run writes before it reads."""
    stored = g.operator.inputs[0]
    for operator in with_sub_blocks(stored.block.program.global_block().ops):
        if operator is g.operator:
            break
        if any(variable is stored for variable in reads(operator)):
            raise ArgumentError(
                f"onnx.export: {stored.name} is stored from one run to the next, which models of ONNX can't "
                "do; make it an input and a result"
            )
    return value
