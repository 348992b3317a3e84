"""Reads the nodes of a graph, by their rows, into the Program that is being built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import EngineError, FormatError
from engine.core.layer_calls import of_scope, within
from engine.core.values.spec import Spec
from engine.eager.mode import EagerMode
from engine.eager.tensor import Parameter, Tensor
from engine.onnx.extra import onnx_package
from engine.onnx.reads.functions import DEFAULT, attributes_of, body_of
from engine.onnx.reads.protos import array_of, attribute
from engine.onnx.reads.rows import ROWS, Row
from engine.onnx.reads.values import Items, Levels, NeedsKnown, Numbers, Unreadable, elements
from engine.ops.arrays import creation
from engine.ops.elementwise import arithmetic
from engine.program.build.builder import current_builder
from engine.program.graph.variable import Variable
from engine.tensor.arrays.tensor_array import TensorArray
from engine.tensor.manipulation import stack

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto


DEEPEST = 64  # graphs within graphs
MOST_FOLDED = 1 << 24  # elements of a known input that a known result is computed from
_EAGER = EagerMode(grad=False)


class Reader:
    """The values by name while a model is read; graphs of ``If``, ``Loop`` and ``Scan`` see those around."""

    def __init__(self, opset: int, functions: Mapping[tuple[str, str], Any] | None = None) -> None:
        self.opset = opset
        self.functions = dict(functions or {})
        self.references: dict[str, Any] = {}  # attributes of the function whose body is read
        self.scopes: list[dict[str, Any]] = []
        self.depth = 0  # of graphs and functions within one another
        self.outputs = 0  # of the node that is read
        self.missing: tuple[bool, ...] = ()  # which of them nothing reads
        self._weights: dict[str, Any] = {}  # initializers that are not read yet
        self._tensors: dict[int, tuple[Any, Tensor]] = {}
        self.parts: dict[Any, tuple[Any, Any]] = {}  # weights in another form, by the row that reads them

    # -- values --------------------------------------------------------------------------------------------
    def value(self, name: str) -> Any:
        """The value of a name. Raises Unreadable for one that nothing before has made."""
        for scope in reversed(self.scopes):
            if name in scope:
                found = scope[name]
                if isinstance(found, Stored):
                    found = scope[name] = found.read(name)
                return found
        raise Unreadable(f"{name!r:.200} is read, but no node before makes it")

    def define(self, name: str, value: object) -> None:
        """Give a name of the innermost graph its value. Raises Unreadable where it has one."""
        if name in self.scopes[-1]:
            raise Unreadable(f"{name!r:.200} is made twice")
        self.scopes[-1][name] = value

    def tensor(self, value: object, name: str = "constant") -> Any:
        """A value as a Tensor or Variable."""
        if isinstance(value, np.ndarray):
            if isinstance(modes.current(), EagerMode):
                return Tensor(value)
            if value.size == 1 and value.dtype.kind in "bif" and np.isfinite(value).all():
                return creation.fill(shape=list(value.shape), value=value.item(), dtype=value.dtype.name)
            found = self._tensors.get(id(value))
            if found is None:
                found = self._tensors[id(value)] = (value, Tensor(value, name=name))
            return found[1]
        if isinstance(value, Numbers):
            return stack(
                [v if isinstance(v, Variable) else self.tensor(np.asarray(v, np.int64)) for v in value.items]
            )
        if isinstance(value, Levels):
            return arithmetic.cast(value.tensor, out_dtype="int8")
        if isinstance(value, Items | TensorArray):
            raise Unreadable("a sequence is given where a tensor is expected")
        return value

    def parameter(self, array: np.ndarray, name: str) -> Tensor:
        """A weight in another form than the model has it."""
        return Parameter(np.ascontiguousarray(array), name)

    # -- graphs --------------------------------------------------------------------------------------------
    def graph(self, graph: GraphProto, inputs: Sequence[Any]) -> list[Any]:
        """The results of a graph for the values of its inputs."""
        if self.depth >= DEEPEST:
            raise FormatError(f"functions and graphs nest over {DEEPEST} deep")
        if len(graph.input) != len(inputs):
            raise Unreadable(f"a graph takes {len(graph.input)} inputs; it gets {len(inputs)}")
        self.scopes.append({})
        self.depth += 1
        try:
            for info, value in zip(graph.input, inputs, strict=True):
                self.define(info.name, value)
            self.initializers(graph, trainable=False)
            self.nodes(graph.node)
            return [self.value(info.name) for info in graph.output]
        finally:
            self.scopes.pop()
            self.depth -= 1

    def initializers(self, graph: GraphProto, trainable: bool = True) -> None:
        """Define the stored tensors of a graph."""
        if len(graph.sparse_initializer):
            raise FormatError("it holds sparse tensors; store them densely")
        for tensor in graph.initializer:
            self.define(tensor.name, Stored(tensor, trainable))

    def nodes(self, nodes: Sequence[Any]) -> None:
        """Read nodes in their order."""
        for node in nodes:
            try:
                with within(of_scope(node.name.rpartition("/")[0]) if node.name.startswith("/") else ""):
                    self.node(node)
            except (MemoryError, RecursionError):
                raise
            except Exception as error:  # attributes and shapes of any kind raise errors of any class
                if isinstance(error, Unreadable) and error.located:  # by a node within this one
                    raise
                text = f"{type(error).__name__}: {error!s:.300}"
                if isinstance(error, EngineError):
                    text = error.message
                kind = NeedsKnown if isinstance(error, NeedsKnown) else Unreadable
                found = kind(f"{described(node)}: {text}")
                found.located = True
                raise found from error

    def node(self, node: NodeProto) -> None:
        """Read a node and define its results."""
        if len(node.output) == 0:
            raise Unreadable("it has no results")
        raw = [None if name == "" else self.value(name) for name in node.input]
        attributes = self.attributes(node)
        row = ROWS.get(node.op_type) if node.domain in DEFAULT else None
        if row is None or (node.domain, node.op_type) in self.functions:
            self.function(node, raw, attributes)
            return
        arguments, keywords = bound(row, raw, attributes)
        self.outputs, self.missing = len(node.output), tuple(name == "" for name in node.output)
        results = self.call(row, arguments, keywords, list(node.input))
        if not isinstance(results, tuple):
            results = (results,)
        if len(results) < len(node.output):
            raise Unreadable(f"it has {len(node.output)} results; {len(results)} are supported")
        for name, result in zip(node.output, results, strict=False):
            if name:
                self.define(name, named(normal(result), name, raw))

    def attributes(self, node: NodeProto) -> dict[str, Any]:
        """The attributes of a node by name; those that refer to a function's have its value for the call."""
        found: dict[str, Any] = {}
        for each in node.attribute:
            if each.name in found:
                raise Unreadable(f"attribute {each.name!r:.100} is given twice")
            if not each.ref_attr_name:
                found[each.name] = attribute(each)
            elif each.ref_attr_name in self.references:
                found[each.name] = self.references[each.ref_attr_name]
        return found

    def function(self, node: NodeProto, raw: list[Any], attributes: dict[str, Any]) -> None:
        """Read the body of a function in place of a node. Raises Unreadable where there is none."""
        body = body_of(node, self.functions, self.opset, raw)
        if body is None:
            domain = f"{node.domain}." if node.domain else ""
            raise Unreadable(f"operator {domain[:60]}{node.op_type[:60]} is not supported")
        if self.depth >= DEEPEST:
            raise FormatError(f"functions and graphs nest over {DEEPEST} deep")
        if len(raw) > len(body.input) or len(node.output) > len(body.output):
            raise Unreadable(f"a function takes {len(body.input)} inputs and gives {len(body.output)}")
        around = self.scopes, self.references, self.opset
        values = dict(zip(body.input, raw + [None] * (len(body.input) - len(raw)), strict=True))
        self.references = attributes_of(body, node, attributes, self.opset)
        self.scopes = [values]
        self.depth += 1
        stated = [each.version for each in body.opset_import if each.domain in DEFAULT]
        self.opset = stated[0] if stated else self.opset
        try:
            self.nodes(body.node)
            wanted = zip(node.output, body.output, strict=False)
            results = [self.value(inner) if name else None for name, inner in wanted]
        finally:
            self.scopes, self.references, self.opset = around
            self.depth -= 1
        for name, result in zip(node.output, results, strict=True):
            if name:
                self.define(name, result)

    def call(
        self, row: Row, arguments: list[tuple[str, Any]], keywords: Mapping[str, Any], names: list[str]
    ) -> Any:
        """A row's results; known inputs give known results."""
        values = [value for _, value in arguments]
        known = all(value is None or isinstance(value, np.ndarray) for value in values)
        if row.pure and known and sum(v.size for v in values if v is not None) <= MOST_FOLDED:
            with modes.use(_EAGER):
                given = [self.argument(kind, value, "") for kind, value in arguments]
                results = row.function(*given, **keywords)
            return results
        names = [*names, *[""] * (len(arguments) - len(names))]
        given = [
            self.argument(kind, value, name) for (kind, value), name in zip(arguments, names, strict=False)
        ]
        if row.takes_reader:
            return row.function(self, *given, **keywords)
        return row.function(*given, **keywords)

    def argument(self, kind: str, value: Any, name: str) -> Any:
        """A value as a row's parameter of this kind takes it."""
        if value is None or kind == "Raw":
            return value
        if kind == "Known":
            if isinstance(value, Tensor):  # a weight, which is only read
                return value.numpy()
            if not isinstance(value, np.ndarray):
                raise NeedsKnown(f"input {name!r:.200} must be known when the model is read")
            return value
        if kind == "Sizes":
            return elements(value)
        return self.tensor(value, name or "constant")


class Stored:
    """An initializer that nothing has read yet."""

    def __init__(self, tensor: TensorProto, trainable: bool) -> None:
        self._tensor, self._trainable = tensor, trainable

    def read(self, name: str) -> Parameter | np.ndarray:
        """A Parameter where it is a weight, else the array."""
        array = array_of(self._tensor)
        if self._trainable and array.ndim and array.size > 1 and array.dtype.kind == "f":
            return Parameter(array, name)
        return array


def bound(
    row: Row, raw: list[Any], attributes: dict[str, Any]
) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """Inputs with their kinds, and attributes, as a row takes them. Raises Unreadable for others."""
    kinds = list(row.inputs.items())
    if row.variadic:
        kinds += [kinds[-1]] * (len(raw) - len(kinds))
        kinds = kinds[: max(len(raw), len(row.inputs) - 1)]
    if len(raw) > len(kinds):
        raise Unreadable(f"it has {len(raw)} inputs; it takes {len(kinds)}")
    raw = raw + [None] * (len(kinds) - len(raw))
    keywords = dict(row.attributes)
    for name, value in attributes.items():
        if name in row.attributes:
            keywords[name] = value
        elif name in row.inputs and not row.variadic:
            place = list(row.inputs).index(name)
            if raw[place] is not None:
                raise Unreadable(f"{name} is given as input and as attribute")
            raw[place] = np.asarray(value, np.float32 if isinstance(value, float) else None)
        else:
            raise Unreadable(f"attribute {name!r:.100} is not supported")
    lacking = [name for name in row.required if name not in attributes]
    if lacking:
        raise Unreadable(f"attribute {lacking[0]} is missing")
    needed = 0 if row.variadic else len(_required(row))
    if any(value is None for value in raw[:needed]):
        raise Unreadable(f"input {list(row.inputs)[[v is None for v in raw].index(True)]} is missing")
    return [(kind, value) for (_, kind), value in zip(kinds, raw, strict=True)], keywords


def _required(row: Row) -> list[str]:
    defaults = row.function.__defaults__ or ()
    return list(row.inputs)[: len(row.inputs) - len(defaults)]


def normal(result: object) -> Any:
    """A row's result as the reader holds it: known ones as arrays."""
    if isinstance(result, Tensor) and not isinstance(result, Parameter):
        return result.numpy()
    if isinstance(result, np.generic):
        return np.asarray(result)
    return result


def named(result: object, name: str, given: Sequence[Any]) -> Any:
    """Let a Variable that a node has made have the node's name for it, unless that is taken."""
    builder = current_builder()
    if (
        isinstance(result, Variable)
        and builder is not None
        and result.block is builder.block
        and not result.persistable
        and not result.is_data
        and not any(result is each for each in given)
        and result.shown_name is None
    ):
        rename(result, name)
    return result


def rename(variable: Variable, name: str) -> None:
    """Give a Variable a name, unless another one of the Program has it."""
    block = variable.block
    if any(name in each.vars for each in block.program.blocks) or not name:
        return
    del block.vars[variable.name]
    variable.name = name
    block.vars[name] = variable


def described(node: NodeProto) -> str:
    """A node in messages."""
    name = node.name or next((each for each in node.output if each), "")
    return f"{node.op_type[:60]} {name[:120]!r}"


def spec_of(info: ValueInfoProto) -> Spec:
    """The Spec of a ValueInfoProto. Raises Unreadable for other values than tensors."""
    onnx = onnx_package()
    if info.type.WhichOneof("value") != "tensor_type":
        raise Unreadable(f"input {info.name!r:.200} is not a tensor")
    kind = info.type.tensor_type
    if not kind.HasField("shape"):
        raise Unreadable(f"input {info.name!r:.200} has no shape; give it one")
    shape = [int(d.dim_value) if d.WhichOneof("value") == "dim_value" else -1 for d in kind.shape.dim]
    if any(d < -1 for d in shape):
        raise Unreadable(f"input {info.name!r:.200} has the shape {shape[:8]}")
    try:
        dtype = str(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
        return Spec(shape, dtype)
    except (KeyError, TypeError, ValueError):
        raise Unreadable(f"input {info.name!r:.200} is of a type that can't be read") from None
