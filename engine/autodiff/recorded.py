"""An operator on the tape as its gradient rules see it: saved values, in their state when they were saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.autodiff.edges import shape_of
from engine.autodiff.vjp import undo_broadcast
from engine.core.attached import Attached
from engine.core.errors import GradientError
from engine.core.operators.operator import Leaf, Operator
from engine.ops.arrays import shape


class Packed:
    """Replaces a saved value that is stored in another form; ``restore`` returns the value."""

    __slots__ = ("restore",)
    _version = None

    def __init__(self, restore: Callable[[], Any]) -> None:
        self.restore = restore


class Recorded:
    """One operator on the tape during a backward pass.

    ``wrap(node, array, n)`` turns the saved array of output ``n`` back into a value; ``zeros(shape, grads)``
    makes a gradient of zeros like one of ``grads``, those of the outputs. Raises GradientError where the
    operator was freed.
    """

    __slots__ = ("attrs", "edges", "grads", "node", "opdef", "wrap", "zeros")

    def __init__(
        self,
        node: Operator,
        grads: list[Any],
        wrap: Callable[[Operator, Any, int], Any],
        zeros: Callable[[tuple[int, ...], list[Any]], Any],
    ) -> None:
        self.node = node
        self.opdef = node.opdef
        self.attrs = node.attrs
        # After the reads above, as ``release`` drops them first: another thread may free the operator.
        edges = node.edges
        if edges is None:
            raise _freed(node)
        self.edges = edges
        self.grads = grads
        self.wrap = wrap
        self.zeros = zeros

    def input(self, n: int) -> Any:
        inputs = self.node.inputs
        if inputs is None:
            raise _freed(self.node)
        value = inputs[n]
        if value is None or (value.__class__ is not list and value._version is None):
            return value.restore() if value.__class__ is Packed else value
        return _as_saved(value, self.edges[n])

    def input_spec(self, n: int) -> Any:
        edge = self.edges[n]
        if edge.__class__ is list:
            return [None if each is None else Shaped(shape_of(each)) for each in edge]
        return Shaped(shape_of(edge))

    def output(self, n: int) -> Any:
        node, outputs = self.node, self.node.outputs
        if outputs is None:
            raise _freed(node)
        if self.opdef.listed:
            return [self.wrap(node, outputs[m], m) for m in range(len(node.shapes))]
        return self.wrap(node, outputs[n], n)

    def zero_gradient(self, n: int) -> Any:
        shapes = self.node.shapes
        return self.zeros(shapes if self.opdef.single else shapes[n], self.grads)

    def unbroadcast(self, n: int, gradient: Attached) -> Any:
        edge = self.edges[n]
        shape = edge.shape if edge.__class__ is Leaf else shape_of(edge)
        return gradient if gradient._array.shape == shape else undo_broadcast(gradient, shape)


def edges_left(node: Operator) -> tuple[Any, ...]:
    """Return the edges of an operator. Raises GradientError if an earlier backward, or another thread's,
    freed them."""
    edges = node.edges
    if edges is None:
        raise _freed(node)
    return edges


def _freed(node: Operator) -> GradientError:
    return GradientError(
        f"backward: the graph of {node.opdef.name} was freed by an earlier backward; "
        f"call backward(retain_graph=True) the first time {at(node)}"
    )


def release(node: Operator) -> None:
    """Release what an operator saved, so that arrays are freed during the walk."""
    node.edges = None
    node.inputs = node.outputs = node.counters = None
    node.attrs = {}


class Shaped:
    """An input whose value was not saved; a rule may read its shape."""

    __slots__ = ("ndim", "shape")

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.ndim = len(shape)


def _as_saved(value: Any, edge: Any) -> Any:
    """A saved input in the shape it had then: ``reshape_()`` and others may have changed it since."""
    if value.__class__ is list:
        return [_as_saved(v, e) for v, e in zip(value, edge or [None] * len(value), strict=True)]
    if value.__class__ is Packed:
        value = value.restore()
    if edge is None or value is None or value._version is None:
        return value
    then = edge.shape if edge.__class__ is Leaf else shape_of(edge)
    return value if value._array.shape == then else shape.reshape(shape.detach(value), shape=list(then))


def check_versions(node: Operator) -> None:
    """Raise GradientError if a value that the gradient needs was changed in place since the forward pass."""
    inputs = node.inputs
    if not node.counters:
        for value in inputs or ():
            if value is not None and (value.__class__ is list or value._version is not None):
                break
        else:
            return
    versions = node.versions if inputs is not None else None
    opdef = node.opdef
    for n, value in enumerate(inputs or ()):
        if opdef.input_names[n] not in opdef.valued_inputs:  # only its shape matters
            continue
        for position, tensor in enumerate(value if isinstance(value, list) else (value,)):
            if tensor is None or tensor._version is None:
                continue
            then = 0 if versions is None else versions[n]
            then = then[position] if isinstance(then, list) else then
            if tensor._version.count != then:
                raise GradientError(
                    f"backward: input {opdef.input_names[n]!r} of {opdef.name}, shape "
                    f"{list(tensor.shape)}, was changed in place {tensor._version.count - then} time(s) "
                    "after it was used; its gradient needs the old value: clone() it before changing it "
                    f"{at(node)}"
                )
    for counter, then in node.counters or ():
        if counter.count != then:
            raise GradientError(
                f"backward: the result of {node.opdef.name} was changed in place after it was computed; its "
                f"gradient needs the old value: clone() it before changing it {at(node)}"
            )


def at(node: Operator) -> str:
    """The user's line that created ``node``, in brackets at the end of a message."""
    where = node.where()
    return f"({where})" if where else ""
