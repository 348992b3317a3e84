"""A model of ONNX as a Program."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core import names
from engine.core.errors import ArgumentError, EngineError, FormatError
from engine.eager.tensor import Tensor
from engine.onnx import reads
from engine.onnx.extra import onnx_package
from engine.onnx.reads.graph import DEEPEST, Reader, rename, spec_of
from engine.onnx.reads.values import Items, Unreadable
from engine.program.build.builder import Builder, building
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.inference import inference_program
from engine.tensor.arrays.tensor_array import TensorArray
from engine.tensor.creation import assign

if TYPE_CHECKING:
    from onnx import ModelProto


OLDEST = 13  # the first opset that the rows know; older ones are converted
CONVERTED = 17
DOMAINS = ("", "ai.onnx")
MOST_NODES, MOST_INLINED = 200_000, 20_000  # of a model; of one with functions


def read_model(model: ModelProto, known: Mapping[str, Any] | None = None) -> Program:
    """The Program of a ModelProto: inputs and outputs have its names, float weights are parameters.

    ``known`` fixes values of inputs, which the Program does not take then: arrays, lists of arrays for
    sequences, None for an optional value that is missing. Raises FormatError for a
    model that can't be read.
    """
    import_rows()
    model = _prepared(model)
    opset = opset_of(model)
    graph = model.graph
    program = Program()
    program.foreign = True
    functions = {(each.domain, each.name): each for each in model.functions}
    if len(functions) != len(model.functions):
        raise FormatError("two of its functions have one name")
    _require_few(graph, functions)
    reader = Reader(opset, functions)
    reader.scopes.append({})
    with names.guard(), building(program) as builder:
        reader.initializers(graph)
        inputs = _inputs(reader, builder, graph, known or {})
        reader.nodes(graph.node)
        outputs = _outputs(reader, builder, graph)
    made = inference_program(program, inputs, outputs)
    made.foreign = True
    return made


def _require_few(graph: Any, functions: Mapping[tuple[str, str], Any]) -> None:
    """Raises FormatError for functions that call themselves, and for too many nodes with their bodies."""
    counted: dict[tuple[str, str], int] = {}

    def nodes(graph: Any, around: tuple[tuple[str, str], ...]) -> int:
        total = 0
        for node in graph.node:
            total += 1 + called((node.domain, node.op_type), around)
            for each in node.attribute:
                total += sum(
                    nodes(inner, around)
                    for inner in (*([each.g] if each.HasField("g") else ()), *each.graphs)
                )
        return total

    def called(function: tuple[str, str], around: tuple[tuple[str, str], ...]) -> int:
        if function not in functions:
            return 0
        if function in around or len(around) > DEEPEST:
            raise FormatError(f"function {function[1]!r:.100} calls itself, or nests over {DEEPEST} deep")
        if function not in counted:
            counted[function] = nodes(functions[function], (*around, function))
        return counted[function]

    total = nodes(graph, ())
    if total > MOST_NODES or (functions and total > MOST_INLINED):
        raise FormatError(f"it has {total} nodes, those of functions counted each time; use a smaller model")


@cache
def import_rows() -> None:
    """Fill ROWS: each file of ``engine.onnx.reads`` adds its own."""
    for module in pkgutil.walk_packages(reads.__path__, f"{reads.__name__}."):
        import_module(module.name)


def opset_of(model: ModelProto) -> int:
    """The opset of the default domain. Raises FormatError where there is none, or two."""
    found = {each.version for each in model.opset_import if each.domain in DOMAINS}
    if len(found) != 1:
        raise FormatError(f"it states {len(found)} versions of ONNX's operators; it must state one")
    return int(found.pop())


def _prepared(model: Any) -> Any:
    """The model in an opset that the rows know."""
    onnx = onnx_package()
    opset, newest = opset_of(model), int(onnx.defs.onnx_opset_version())
    if not 1 <= opset <= newest:
        raise FormatError(
            f"opset {opset}: the installed package onnx knows 1 to {newest}; write the model for an older "
            "one, or update onnx"
        )
    if opset < OLDEST:
        from onnx.version_converter import convert_version

        try:
            model = convert_version(model, CONVERTED)
        except Exception as error:  # the converter raises errors of its own kinds
            raise FormatError(
                f"opset {opset} can't be converted to {CONVERTED}: {_line(error)}; write it for opset "
                f"{OLDEST} or newer"
            ) from None
    return model


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def _inputs(reader: Reader, builder: Builder, graph: Any, known: Mapping[str, Any]) -> list[Variable]:
    unknown = sorted(set(known) - {info.name for info in graph.input})
    if unknown:
        raise ArgumentError(
            f"inputs {unknown} are given values; the model has {[info.name for info in graph.input]}"
        )
    made = []
    block = builder.program.global_block()
    for info in graph.input:
        if info.name in known:
            value = known[info.name]
            reader.define(info.name, _given(value))
        elif info.name not in reader.scopes[-1]:  # a weight is declared as an input too in old files
            spec = spec_of(info)
            variable = block.create_var(info.name, spec, is_data=True)
            reader.define(info.name, variable)
            made.append(variable)
    return made


def _given(value: Any) -> Any:
    """A value that an input has from outside, as the reader holds it."""
    if value is None:
        return None
    return Items([_given(each) for each in value]) if isinstance(value, list) else np.asarray(value)


def _outputs(reader: Reader, builder: Builder, graph: Any) -> list[Variable]:
    outputs: list[Variable] = []
    for info in graph.output:
        if any(info.name == each.name for each in outputs):
            raise Unreadable(f"output {info.name!r:.200} is given twice")
        for name, value in _parts(info.name, reader.value(info.name)):
            outputs.append(_output(reader, builder, name, value, outputs))
    if not outputs:
        raise FormatError("it has no outputs")
    return outputs


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    """The tensors of an output: those of a sequence are outputs of their own, or one that stacks them."""
    if isinstance(value, Items):
        return [(f"{name}.{n}", each) for n, each in enumerate(value.items)]
    if isinstance(value, TensorArray):
        return [(name, each) for each in value.leaves()]
    return [(name, value)]


def _output(reader: Reader, builder: Builder, name: str, value: Any, others: list[Variable]) -> Variable:
    """The Variable of an output, which has its name."""
    if value is None:
        raise Unreadable(f"output {name!r:.200} has no value")
    made = reader.tensor(value, name)
    if isinstance(made, Tensor) or made.is_data or made.persistable or any(made is each for each in others):
        made = assign(made)
    if made.name != name:
        for block in builder.program.blocks:
            taken = block.vars.get(name)
            if taken is not None and not taken.is_data:
                rename(taken, builder.program.unique_name(f"{name}_inner"))
        rename(made, name)
    return made  # type: ignore[no-any-return]


def one_line(error: EngineError) -> str:
    """The message of an error as one line."""
    return " ".join(error.message.split())
