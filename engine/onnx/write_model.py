"""A Program as a model of ONNX."""

from __future__ import annotations

import pkgutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine.core.errors import ArgumentError
from engine.core.operators.operator import Operator
from engine.core.version import VERSION
from engine.onnx import writes
from engine.onnx.extra import onnx_package
from engine.onnx.writes.blocks import Writer, value_info
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import ROWS
from engine.onnx.writes.without import WITHOUT
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Program, Variable
from engine.program.passes.clone import clone
from engine.program.passes.dead_code import remove_dead_code
from engine.program.passes.fold_batch_norm import fold_batch_norms
from engine.program.passes.fold_constants import fold_constants
from engine.program.passes.fold_weights import fold_weights
from engine.program.passes.inference import inference_program

if TYPE_CHECKING:
    from onnx import ModelProto


OPSET, IR_VERSION = 17, 8  # what every runtime since 2022 reads


def write_model(program: Program, metadata: Mapping[str, str], optimize: bool = False) -> ModelProto:
    """The ModelProto of opset 17 of a Program as ``jit.save`` writes it, without checks.

    Raises ArgumentError for a network in training mode, or with operators that ONNX can't express: it names
    all of them with their lines.
    """
    import_rows()
    prepared = _prepared(program, optimize)
    _require_rows(prepared)
    writer = Writer()
    g = Graph(writer)
    block = prepared.global_block()
    inputs = [block.var(name) for name in prepared.inputs]
    for variable in inputs:
        writer.values[variable] = Value(writer.names.free(variable.name), variable.spec)
    for name in prepared.outputs:  # before other tensors take these names
        if block.var(name) not in writer.values:
            writer.names.free(name)
    for variable in prepared.bound():
        writer.values[variable] = g.stored(variable.name, variable.tensor.numpy())
    writer.write(g, block.ops)
    made: ModelProto = _model(g, prepared, inputs, metadata)
    return made


@cache
def import_rows() -> None:
    """Fill ROWS: each file of ``engine.onnx.writes`` adds its own."""
    for module in pkgutil.walk_packages(writes.__path__, f"{writes.__name__}."):
        import_module(module.name)


def _prepared(program: Program, optimize: bool) -> Program:
    """A copy with constants folded, and without what the outputs do not need."""
    made = clone(program)
    made.outputs = list(program.outputs)
    remove_dead_code(made)
    if optimize:
        fold_batch_norms(made)
        fold_weights(made)  # the new filters
    fold_constants(made)
    remove_dead_code(made)
    block = made.global_block()
    inputs, outputs = ([block.var(name) for name in names] for names in (made.inputs, made.outputs))
    return inference_program(made, inputs, outputs)


def missing_rows(program: Program) -> Iterator[Operator]:
    """The operators of a Program that have no row."""
    return (o for o in with_sub_blocks(program.global_block().ops) if o.opdef.name not in ROWS)


def _require_rows(program: Program) -> None:
    operators = list(with_sub_blocks(program.global_block().ops))
    training = {o.opdef.name for o in operators if o.attrs.get("is_test") is False}
    if training:
        raise ArgumentError(
            f"onnx.export: {', '.join(sorted(training))}: in the mode for training, where results differ "
            "from run to run; call eval() on the network first"
        )
    lines: defaultdict[str, set[str]] = defaultdict(set)
    for operator in missing_rows(program):
        lines[operator.opdef.name].add(operator.where() or "no line was recorded")
    if lines:
        found = "\n".join(
            f"  {name}{f' ({WITHOUT[name]})' if name in WITHOUT else ''}: {'; '.join(sorted(at))}"
            for name, at in sorted(lines.items())
        )
        raise ArgumentError(f"onnx.export: ONNX can't express these operators, nothing was written:\n{found}")


def _model(g: Graph, program: Program, inputs: list[Variable], metadata: Mapping[str, str]) -> Any:
    helper = onnx_package().helper
    block = program.global_block()
    named: dict[str, str] = {}
    outputs = []
    for name in program.outputs:
        variable = block.var(name)
        value = g.writer.value(variable)
        if value.name not in g.made or value.name in named or value.name == name:
            value = g.Identity(value)
        given = g.names.free(name) if name in program.inputs or name in named.values() else name
        named[value.name] = given
        outputs.append((given, variable))
    _rename(g.nodes, named)
    graph = g.proto(
        "model",
        [value_info(v.name, v, _dimensions(v, inputs)) for v in inputs],
        [value_info(name, v, _dimensions(v, inputs)) for name, v in outputs],
    )
    made = helper.make_model(
        graph,
        producer_name="Model Studio",
        producer_version=VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    helper.set_model_props(made, dict(metadata))
    return made


def _dimensions(variable: Variable, inputs: list[Variable]) -> list[int | str]:
    """The dimensions, unknown ones by name: ``batch`` is the first of a model's only input.

    Two names are two sizes, but one name is one size for the runtime, so several inputs share none.
    """
    alone = len(inputs) == 1 and variable is inputs[0]
    return [
        d if d >= 0 else "batch" if axis == 0 and alone else f"{variable.name}_{axis}"
        for axis, d in enumerate(variable.spec.shape)
    ]


def _rename(nodes: list[Any], named: Mapping[str, str]) -> None:
    for node in nodes:
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                if name in named:
                    names[place] = named[name]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g.node, named)
                for info in attribute.g.output:
                    info.name = named.get(info.name, info.name)
