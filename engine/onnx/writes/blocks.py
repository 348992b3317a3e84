"""Writes the operators of a block by their rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.core.containers.identity import IdentityMap
from engine.core.errors import ArgumentError
from engine.core.operators.operator import Operator
from engine.onnx.extra import onnx_package
from engine.onnx.writes.graph import Graph, Names, Value, element_type
from engine.onnx.writes.rows import ROWS
from engine.program.graph.program import Variable
from engine.program.graph.region import Region

if TYPE_CHECKING:
    from onnx import GraphProto, ValueInfoProto


class Writer:
    """The Values of Variables while a Program is written.

    ``scope`` is the name of the first result of the operator that is written: names of its nodes begin with
    it. ``comment`` is the file, without its folder, and the line that created the operator, ``layer`` the
    path of the Layer's call that did.
    """

    def __init__(self) -> None:
        self.names = Names()
        self.values: IdentityMap[Variable, Value] = IdentityMap()
        self.scope = ""
        self.comment = ""
        self.layer = ""

    def write(self, g: Graph, ops: Sequence[Operator]) -> None:
        """Append the nodes of operators to a graph."""
        for operator in ops:
            self._write(g, operator)

    def _write(self, g: Graph, operator: Operator) -> None:
        row, attributes = ROWS[operator.opdef.name]
        outputs = list(operator.outputs)
        named = [v for v in outputs if v is not None]
        before: tuple[str, str, str, Any] = self.scope, self.comment, self.layer, getattr(g, "operator", None)
        self.scope = named[0].name if named else operator.opdef.name
        position = operator.position
        self.comment = f"{os.path.basename(position[0])}:{position[1]}" if position else ""
        self.layer = operator.layer
        g.operator = operator
        results = row(g, *map(self._read, operator.inputs), **{n: operator.attrs[n] for n in attributes})
        self.scope, self.comment, self.layer, g.operator = before
        for variable, value in zip(
            outputs, results if isinstance(results, tuple | list) else (results,), strict=True
        ):
            if variable is not None and value is not None:
                self.values[variable] = Value(value.name, variable.spec, value.array)

    def _read(self, given: Any) -> Any:
        if isinstance(given, list | tuple):
            return [self.value(variable) for variable in given]
        return None if given is None else self.value(given)

    def value(self, variable: Variable) -> Value:
        """The Value of a Variable. Raises ArgumentError for a result that its row does not compute."""
        found = self.values.get(variable)
        if found is None:
            raise ArgumentError(
                f"onnx.export: {variable.name} is a result that only training reads, which ONNX does not "
                "compute; choose other outputs"
            )
        return found

    # -- regions -------------------------------------------------------------------------------------------
    def branch(self, g: Graph, region: Region, name: str) -> GraphProto:
        """The GraphProto of a region without arguments."""
        inner = Graph(self, g)
        self.write(inner, region.block.ops)
        return inner.proto(name, (), [self.returned(inner, v, v) for v in region.results])

    def returned(self, inner: Graph, variable: Variable, declared: Variable) -> ValueInfoProto:
        """The ValueInfo of a result of an inner graph, which must be a result of a node in it."""
        value = self.values[variable]
        if value.name not in inner.made:
            value = inner.Identity(value)
        inner.made.discard(value.name)  # so that each result has a name of its own
        return value_info(value.name, declared)


def value_info(
    name: str, variable: Variable, dimensions: Sequence[int | str | None] | None = None
) -> ValueInfoProto:
    """The ValueInfoProto of a Variable: unknown dimensions stay open unless ``dimensions`` name them."""
    shape = [None if d < 0 else d for d in variable.spec.shape] if dimensions is None else dimensions
    kind = element_type(variable.dtype.name)
    made: ValueInfoProto = onnx_package().helper.make_tensor_value_info(name, kind, shape)
    return made
