"""Rows of branches and loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.onnx.extra import onnx_package
from engine.onnx.writes.blocks import value_info
from engine.onnx.writes.graph import Graph, Value, element_type
from engine.onnx.writes.rows import writes


def _flag(g: Graph, value: Value) -> Value:
    """A bool of one element as one without dimensions."""
    return value if value.shape == () else g.Reshape(value, [])


@writes("conditional_block")
def _(g: Graph, pred: Value, captured: Sequence[Value]) -> list[Value]:
    true, false = g.operator.regions
    sides = [g.writer.branch(g, side, name) for side, name in ((true, "true"), (false, "false"))]
    return g.node(
        "If", _flag(g, pred), outputs=len(g.operator.outputs), then_branch=sides[0], else_branch=sides[1]
    )


@writes("while")
def _(g: Graph, xs: Sequence[Value], captured: Sequence[Value]) -> list[Value]:
    """The condition is written twice: before the loop, and at the end of its body."""
    condition, body = g.operator.regions
    writer, helper = g.writer, onnx_package().helper

    def goes_on(graph: Graph, values: Sequence[Value]) -> Value:
        for argument, value in zip(condition.arguments, values, strict=True):
            writer.values[argument] = value
        writer.write(graph, condition.block.ops)
        return _flag(graph, writer.values[condition.results[0]])

    first = goes_on(g, xs)
    inner = Graph(writer, g)
    given = [Value(writer.names.free(v.name), v.spec) for v in body.arguments]
    for argument, value in zip(body.arguments, given, strict=True):
        writer.values[argument] = value
    writer.write(inner, body.block.ops)
    results = [writer.values[v] for v in body.results]
    again = inner.Identity(goes_on(inner, results))
    number, flag = writer.names.free("iteration"), writer.names.free("goes_on")
    inputs: list[Any] = [
        helper.make_tensor_value_info(number, element_type("int64"), []),
        helper.make_tensor_value_info(flag, element_type("bool"), []),
        *(value_info(value.name, argument) for value, argument in zip(given, body.arguments, strict=True)),
    ]
    outputs = [helper.make_tensor_value_info(again.name, element_type("bool"), [])]
    for variable, value, argument in zip(body.results, results, body.arguments, strict=True):
        writer.values[variable] = value  # the condition may have written over it: a result may be an argument
        outputs.append(writer.returned(inner, variable, argument))
    return g.node("Loop", None, first, *xs, outputs=len(xs), body=inner.proto("body", inputs, outputs))


@writes("print", ignoring="message")
def _(g: Graph, x: Value) -> Value:
    """ONNX prints nothing."""
    return g.Identity(x)


@writes(
    "print_tensor",
    ignoring="names first_n message summarize print_tensor_name print_tensor_type print_tensor_shape "
    "print_tensor_layout print_tensor_lod print_phase is_forward seen",
)
def _(g: Graph, x: Value) -> Value:
    return g.Identity(x)


@writes("assert", ignoring="summarize message")
def _(g: Graph, cond: Value, data: Sequence[Value]) -> tuple[()]:
    """ONNX has no errors of a model's own."""
    return ()
