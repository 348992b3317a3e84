"""Walks the tape backwards from results to leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from engine.autodiff.vjp import input_gradients, undo_broadcast
from engine.core.errors import GradientError
from engine.core.operator import Leaf, Operator, OutEdge
from engine.ops.arrays import shape

Edge = Operator | OutEdge | Leaf


class Hooks:
    """What users attached to an operator's results: functions to call, and gradients to keep."""

    __slots__ = ("functions", "retained")

    def __init__(self) -> None:
        self.functions: dict[int, list[Callable[[Any], Any]]] = {}
        self.retained: dict[int, Any] = {}


class Packed:
    """Stands on a node for a value that is kept in another form; ``restore`` gives the value back."""

    __slots__ = ("restore",)
    _version = None

    def __init__(self, restore: Callable[[], Any]) -> None:
        self.restore = restore


def _restored(value: Any) -> Any:
    if value.__class__ is list:
        return [_restored(v) for v in value]
    return value.restore() if value.__class__ is Packed else value


def _as_it_was(value: Any, edge: Any) -> Any:
    """A saved input in the shape that it had: reshape_() and others may have given it another since."""
    if value.__class__ is list:
        return [_as_it_was(v, e) for v, e in zip(value, edge or [None] * len(value), strict=True)]
    if edge is None or value is None or value._version is None:
        return value
    then = shape_of(edge)
    return value if tuple(value.shape) == then else shape.reshape(shape.detach(value), shape=list(then))


def end(edge: Edge) -> tuple[Any, int]:
    """The node (or leaf) and output number that an edge points at."""
    if edge.__class__ is OutEdge:
        return edge.node, edge.index
    return edge, 0


def _edges(node: Operator) -> list[Any]:
    """All edges of a node, those of list inputs too; none where it was freed."""
    found: list[Any] = []
    for edge in node.edges or ():
        found += (
            [e for e in edge if e is not None] if edge.__class__ is list else [] if edge is None else [edge]
        )
    return found


def shape_of(edge: Edge) -> tuple[int, ...]:
    """The shape of the value that ``edge`` stands for."""
    if edge.__class__ is Leaf:
        return edge.shape
    node, index = end(edge)
    found: tuple[int, ...] = node.shapes if node.opdef.single else node.shapes[index]
    return found


class Walk:
    """One backward pass.

    ``targets`` (for ``grad``) collects gradients of those edges instead of storing any in leaves, and nothing
    flows into ``blocked`` ones. ``wrap`` turns a saved array back into a value, ``zeros`` makes a gradient
    where none flowed back, ``own`` copies one that may not be alone in holding its array.
    """

    def __init__(
        self,
        *,
        retain_graph: bool,
        create_graph: bool,
        wrap: Callable[[Any, Any], Any],
        zeros: Callable[[tuple[int, ...], Any], Any],
        own: Callable[[Any, bool], Any],
        targets: dict[tuple[Any, int], Any] | None = None,
        blocked: frozenset[tuple[Any, int]] = frozenset(),
    ) -> None:
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.wrap = wrap
        self.zeros = zeros
        self.own = own
        self.targets = targets
        self.blocked = blocked
        self.leaves: dict[Leaf, tuple[Any, bool]] = {}
        self.pending: dict[Operator, list[Any]] = {}
        self.waiting: dict[Operator, int] = {}
        self.leading: dict[Operator, bool] | None = None  # for ``targets``: which operators lead to one

    def run(self, roots: Sequence[tuple[Edge, Any]]) -> None:
        if self.targets is not None:
            self.leading = self._find_leading([edge for edge, _ in roots], self.targets)
        self._count(edge for edge, _ in roots)
        ready: list[Operator] = []
        for edge, gradient in roots:
            self._deliver(edge, gradient, fresh=False)
        ready += [node for node in self.pending if self.waiting[node] == 0]
        leading = self.leading
        while ready:
            node = ready.pop()
            grads = self.pending.pop(node, None)
            if grads is not None:
                grads = self._hooks(node, grads)
                results = self._gradients(node, grads) if leading is None or leading[node] else None
            else:
                results = None
            for n, edge in enumerate(node.edges or ()):
                for position, each in enumerate(edge if edge.__class__ is list else (edge,)):
                    if each is None or (leading is not None and not self._wanted(each)):
                        continue
                    gradient = results[n] if results is not None else None
                    if gradient is not None and edge.__class__ is list:
                        gradient = gradient[position]
                    if gradient is not None:
                        self._deliver(each, gradient, fresh=not any(gradient is g for g in grads or ()))
                    parent, _ = end(each)
                    if parent.__class__ is not Leaf:
                        self.waiting[parent] -= 1
                        if self.waiting[parent] == 0:
                            ready.append(parent)
            if not self.retain_graph and (leading is None or leading[node]):
                release(node)
        for leaf, (gradient, fresh) in self.leaves.items():
            self._store(leaf, gradient, fresh)

    def _find_leading(
        self, roots: Sequence[Edge], targets: dict[tuple[Any, int], Any]
    ) -> dict[Operator, bool]:
        """Whether each operator that the roots lead to leads to a target: no other has gradients to compute.

        Beyond one that was freed nobody knows: it counts as leading, to be refused, unless it is a target.
        """
        made_targets = {node for node, _ in targets}
        leading: dict[Operator, bool] = {}
        seen: set[Operator] = set()
        stack = [(node, False) for node, _ in map(end, roots) if node.__class__ is not Leaf]
        while stack:
            node, complete = stack.pop()
            if complete:
                leading[node] = any(
                    (n, i) in targets or leading.get(n, False) for n, i in map(end, _edges(node))
                ) or (node.edges is None and node not in made_targets)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack += [(n, False) for n, _ in map(end, _edges(node)) if n.__class__ is not Leaf]
        return leading

    def _wanted(self, edge: Edge) -> bool:
        """Whether a gradient of ``edge`` is used by anyone."""
        if self.leading is None:
            return True
        place = end(edge)
        return place in (self.targets or ()) or self.leading.get(place[0], False)

    def _any(self, edge: Edge | list[Edge | None]) -> bool:
        if edge.__class__ is list:
            return any(each is not None and self._wanted(each) for each in edge)
        return self._wanted(edge)  # type: ignore[arg-type]

    def _count(self, roots: Iterable[Edge]) -> None:
        """How many consumers each operator that the roots lead to waits for."""
        waiting = self.waiting
        stack: list[Operator] = []
        for root in roots:
            node, _ = end(root)
            if node.__class__ is not Leaf and node not in waiting:
                waiting[node] = 0
                stack.append(node)
        while stack:
            node = stack.pop()
            if self.leading is not None and not self.leading[node]:
                continue
            if node.edges is None:
                raise GradientError(
                    f"backward: the graph of {node.opdef.name} was freed by an earlier backward; "
                    f"call backward(retain_graph=True) the first time {_at(node)}"
                )
            for edge in node.edges:
                for each in edge if edge.__class__ is list else (edge,):
                    if each is None or each.__class__ is Leaf:
                        continue
                    if self.leading is not None and not self._wanted(each):
                        continue
                    parent, _ = end(each)
                    if parent in waiting:
                        waiting[parent] += 1
                    else:
                        waiting[parent] = 1
                        stack.append(parent)

    def _deliver(self, edge: Edge, gradient: Any, fresh: bool) -> None:
        node, index = end(edge)
        if self.blocked and (node, index) in self.blocked:
            return
        if node.__class__ is Leaf:
            before = self.leaves.get(node)
            # Stored when all of it is there: hooks see the whole gradient, once.
            self.leaves[node] = (gradient, fresh) if before is None else (before[0] + gradient, True)
            return
        grads = self.pending.get(node)
        if grads is None:
            grads = self.pending[node] = [None] * (1 if node.opdef.single else len(node.shapes))
        grads[index] = gradient if grads[index] is None else grads[index] + gradient

    def _store(self, leaf: Leaf, gradient: Any, fresh: bool) -> None:
        for hook in leaf.hooks or ():
            replaced = hook(gradient)
            gradient = gradient if replaced is None else replaced
        if self.targets is not None:
            key = (leaf, 0)
            if key in self.targets:
                before = self.targets[key]
                self.targets[key] = gradient if before is None else before + gradient
            return
        if leaf.grad is not None:
            leaf.grad = leaf.grad + gradient
        else:
            leaf.grad = self.own(gradient, fresh)
            leaf.cleared = None

    def _hooks(self, node: Operator, grads: list[Any]) -> list[Any]:
        hooks = node.hooks
        if hooks is not None:
            for index, functions in hooks.functions.items():
                for function in functions:
                    if grads[index] is not None:
                        replaced = function(grads[index])
                        grads[index] = grads[index] if replaced is None else replaced
            for index in hooks.retained:
                if grads[index] is not None and self.targets is None:
                    before = hooks.retained[index]
                    hooks.retained[index] = grads[index] if before is None else before + grads[index]
        if self.targets is not None:
            for index, gradient in enumerate(grads):
                if (node, index) in self.targets and gradient is not None:
                    before = self.targets[(node, index)]
                    self.targets[(node, index)] = gradient if before is None else before + gradient
        return grads

    def _gradients(self, node: Operator, grads: list[Any]) -> list[Any]:
        opdef = node.opdef
        edges = node.edges
        if edges is None:
            raise GradientError(f"backward: the graph of {opdef.name} was freed {_at(node)}")
        if self.create_graph and opdef.order is not None:
            raise GradientError(
                f"{opdef.name}: has gradients of order {opdef.order} only; "
                f"call grad(create_graph=False) {_at(node)}"
            )
        if opdef.saved_inputs or opdef.saved_outputs:
            check_versions(node)
        names = opdef.input_names
        wanted = frozenset(
            names[n]
            for n, edge in enumerate(edges)
            if edge is not None and (self.leading is None or self._any(edge))
        )
        return input_gradients(Recorded(node, grads, self), [grads] if opdef.listed else grads, wanted)


class Recorded:
    """An operator on the tape as its gradient rules see it."""

    __slots__ = ("attrs", "edges", "grads", "node", "opdef", "walk")

    def __init__(self, node: Operator, grads: list[Any], walk: Walk) -> None:
        self.node = node
        self.opdef = node.opdef
        self.attrs = node.attrs
        self.edges: tuple[Any, ...] = node.edges or ()
        self.grads = grads
        self.walk = walk

    def input(self, n: int) -> Any:
        return _as_it_was(_restored(self.node.inputs[n]), self.edges[n])

    def input_spec(self, n: int) -> Any:
        edge = self.edges[n]
        if edge.__class__ is list:
            return [None if e is None else Shaped(shape_of(e)) for e in edge]
        return Shaped(shape_of(edge))

    def output(self, n: int) -> Any:
        node = self.node
        if self.opdef.listed:
            return [self.walk.wrap(node, m) for m in range(len(node.shapes))]
        return self.walk.wrap(node, n)

    def zero_gradient(self, n: int) -> Any:
        shapes = self.node.shapes
        return self.walk.zeros(shapes if self.opdef.single else shapes[n], self.grads)

    def unbroadcast(self, n: int, gradient: Any) -> Any:
        return undo_broadcast(gradient, shape_of(self.edges[n]))


class Shaped:
    """What a rule may ask of an input when only its shape matters."""

    __slots__ = ("ndim", "shape")

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.ndim = len(shape)


def check_versions(node: Operator) -> None:
    """Raise GradientError if a value that the gradient needs was changed in place since the forward pass."""
    inputs = node.inputs
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
                    f"{_at(node)}"
                )
    for counter, then in node.counters or ():
        if counter.count != then:
            raise GradientError(
                f"backward: the result of {node.opdef.name} was changed in place after it was computed; its "
                f"gradient needs the old value: clone() it before changing it {_at(node)}"
            )


def release(node: Operator) -> None:
    """Drop what a node keeps, so that arrays are freed while the walk goes on."""
    node.inputs = node.outputs = node.edges = node.counters = node.attrs = None  # type: ignore[assignment]


def _at(node: Operator) -> str:
    where = node.where()
    return f"({where})" if where else ""
