"""The graph that rows write: nodes of ONNX, values, constants; graphs within it for ``If`` and ``Loop``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from engine.core.errors import DTypeError
from engine.core.layer_calls import as_scope
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.onnx.extra import onnx_package

if TYPE_CHECKING:
    from onnx import GraphProto

    from engine.onnx.writes.blocks import Writer

# What becomes a constant of the model.
Constant: TypeAlias = np.ndarray | np.generic | complex | Sequence[Any]

SMALL = 1 << 16  # bytes; constants up to this size and of equal content are one


class Value:
    """A tensor of the graph: its name, and its Spec, which results on a row's way do not have.

    ``array`` is its content where that is known before running.
    """

    __slots__ = ("array", "name", "spec")

    def __init__(self, name: str, spec: Spec | None = None, array: np.ndarray | None = None) -> None:
        self.name, self.spec, self.array = name, spec, array

    def _known(self) -> Spec:
        assert self.spec is not None, f"{self.name!r} is a result on the way: its shape is not known"
        return self.spec

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions, -1 where they are not known."""
        return self._known().shape

    @property
    def dtype(self) -> str:
        return self._known().dtype.name

    @property
    def ndim(self) -> int:
        return len(self.shape)


class Names:
    """Names of tensors and nodes, each used once in a model: in its inner graphs, too."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def free(self, wanted: str) -> str:
        """``wanted``, or that with a number where it is taken."""
        name, number = wanted, self._taken.get(wanted, 0)
        while name in self._taken:
            number += 1
            name = f"{wanted}.{number}"
        self._taken[wanted] = number
        self._taken.setdefault(name, 0)
        return name


class Graph:
    """One graph of the model that is written.

    ``g.Relu(x)`` appends a node of that kind and returns the Value of its one output; ``g.node`` gives
    several. Inputs are Values, None for an absent one, or numbers and arrays, which become constants.
    ``operator`` is the one whose row writes now, and ``writer`` writes the blocks of its regions.
    """

    operator: Operator

    def __init__(self, writer: Writer, outer: Graph | None = None) -> None:
        self.writer = writer
        self.names: Names = writer.names
        self.top: Graph = self if outer is None else outer.top
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.made: set[str] = set()  # names of results of its own nodes
        self._constants: dict[Any, Value] = {}
        self._changed: dict[tuple[str, str], Value] = {}

    def __getattr__(self, kind: str) -> Callable[..., Value]:
        if not kind[:1].isupper():
            raise AttributeError(kind)
        return lambda *inputs, **attributes: self.node(kind, *inputs, **attributes)[0]

    def node(
        self, kind: str, *inputs: Any, outputs: int = 1, domain: str = "", **attributes: Any
    ) -> list[Value]:
        """Append a node and return the Values of its outputs. Attributes that are None are left out."""
        read = [self.value(x) for x in inputs]
        while read and read[-1] is None:
            read.pop()
        base = f"{self.writer.scope}/{kind}"
        layer = self.writer.layer
        made = [Value(self.names.free(base if n == 0 else f"{base}:{n}")) for n in range(outputs)]
        node = onnx_package().helper.make_node(
            kind,
            ["" if value is None else value.name for value in read],
            [value.name for value in made],
            name=self.names.free(f"{as_scope(layer)}{kind}") if layer else made[0].name,
            doc_string=self.writer.comment or None,
            domain=domain or None,
            **{key: value for key, value in attributes.items() if value is not None},
        )
        self.nodes.append(node)
        self.made.update(value.name for value in made)
        return made

    def value(self, given: Value | Constant | None) -> Value | None:
        """A Value for what a row gives as input."""
        return given if given is None or isinstance(given, Value) else self.constant(given)

    def constant(self, given: Constant) -> Value:
        """A constant of the model. Without a dtype of their own, integers are int64 and numbers float32."""
        array = np.asarray(given)
        if not isinstance(given, np.ndarray | np.generic) and array.dtype != bool:
            array = array.astype(np.int64 if array.dtype.kind == "i" or not array.size else np.float32)
        if self is not self.top:
            return self.top.constant(array)
        if array.nbytes > SMALL:
            return self.stored(f"{self.writer.scope}/constant", array)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self.stored("constant", array)
        return self._constants[key]

    def stored(self, name: str, array: np.ndarray) -> Value:
        """An array in the model under a name, such as a weight."""
        if self is not self.top:
            return self.top.stored(name, array)
        made = Value(self.names.free(name), Spec(array.shape, array.dtype.name), array)
        array = np.ascontiguousarray(array).reshape(array.shape)
        self.initializers.append(onnx_package().numpy_helper.from_array(array, made.name))
        return made

    def changed(self, weight: Value, how: str, change: Callable[[np.ndarray], np.ndarray]) -> Value:
        """A known tensor in another form, which the model holds once; ``how`` names the form."""
        made = self.top._changed
        if (weight.name, how) not in made:
            assert weight.array is not None
            made[weight.name, how] = self.stored(weight.name, change(weight.array))
        return made[weight.name, how]

    def proto(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> GraphProto:
        """The GraphProto without nodes that nothing reads; inputs and outputs are ValueInfos."""
        read = {value.name for value in outputs}
        needed = []
        for node in reversed(self.nodes):
            if not read.isdisjoint(node.output):
                needed.append(node)
                read.update(_names_read(node))
        stored = [array for array in self.initializers if array.name in read]
        made: GraphProto = onnx_package().helper.make_graph(needed[::-1], name, inputs, outputs, stored)
        return made

    # -- what many rows need -------------------------------------------------------------------------------
    def like(self, number: Constant, x: Value) -> np.ndarray:
        """A number as an array without dimensions and with the dtype of ``x``."""
        return np.asarray(number, numpy_dtype(x.dtype))

    def cast(self, x: Value, dtype: str) -> Value:
        return self.Cast(x, to=element_type(dtype))

    def cast_from(self, x: Value) -> Value | None:
        """What a row of this graph cast to ``x``."""
        node = next((n for n in self.nodes if n.op_type == "Cast" and x.name in n.output), None)
        return None if node is None else Value(node.input[0])

    def transposed(self, x: Value, order: Sequence[int]) -> Value:
        return x if list(order) == sorted(order) else self.Transpose(x, perm=list(order))

    def filled(self, sizes: Value | Sequence[Any], number: np.ndarray) -> Value:
        """An array of ``sizes``, a vector int64, with one number everywhere."""
        return self.ConstantOfShape(sizes, value=onnx_package().numpy_helper.from_array(number.reshape(1)))

    def result(self, number: int = 0) -> Spec:
        """The Spec of a result of the operator that is written."""
        spec: Spec = self.operator.outputs[number].spec
        return spec


def _names_read(node: Any) -> Iterator[str]:
    """What a node reads, and its inner graphs."""
    yield from node.input
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield from (value.name for value in attribute.g.output)
            for inner in attribute.g.node:
                yield from _names_read(inner)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Raises DTypeError for a dtype that NumPy does not have."""
    try:
        return np.dtype(name)
    except TypeError:
        raise DTypeError(f"onnx.export: {name} values can't be written; cast them to float32") from None


def element_type(dtype: str) -> int:
    """The number that ONNX has for a dtype. Raises DTypeError for one that it does not have."""
    return int(onnx_package().helper.np_dtype_to_tensor_dtype(numpy_dtype(dtype)))
