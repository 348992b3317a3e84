"""The walk over the tape, backwards from results to leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Protocol

from engine.autodiff.edges import Edge, Place, each_of, end
from engine.autodiff.recorded import Recorded, at, check_versions, edges_left, release
from engine.autodiff.vjp import input_gradients
from engine.core.attached import Attached
from engine.core.errors import GradientError
from engine.core.operators import traits
from engine.core.operators.operator import Leaf, Operator, OutEdge
from engine.core.spans import watch

# Whether the walk of this context frees a record's saved values as soon as its gradients are computed.
frees: ContextVar[bool] = ContextVar("walk_frees", default=False)

Observer = Callable[[Operator, list[Any], list[Any]], None]
"""Sees an operator of a walk, the gradients of its outputs, and those that go along its edges."""
observer: ContextVar[Observer | None] = ContextVar("walk_observer", default=None)


class Retained:
    """Stores a copy of the gradient that passes it; it is one of the hooks, in their order."""

    __slots__ = ("_copied", "grad")

    def __init__(self, copied: Callable[[Any], Any]) -> None:
        self._copied = copied
        self.grad: Any = None

    def __call__(self, gradient: Attached) -> None:
        self.grad = self._copied(gradient)


class Watcher(Protocol):
    """Waits for the complete gradients of leaves during backward, and stores them in place of the walk."""

    active: bool
    """Whether it takes part in the next walk; asked once for each leaf that the walk comes to."""

    def begin(self) -> None:
        """A walk begins that comes to at least one of the leaves."""

    def ready(self, leaf: Leaf, gradient: Attached | None) -> None:
        """All that flows to ``leaf`` in this walk has come: the sum, or None where it was nothing."""

    def finish(self) -> None:
        """The walk has ended without an error: store the gradients."""


Hooks = dict[int, list[Callable[[Any], Any]]]
"""Hooks that users attached to an operator's outputs, by position, in the order of the calls."""


class Walk:
    """One backward pass.

    ``targets`` (for ``grad``) maps the places whose gradients are wanted to those gradients; then leaves
    store none. Nothing flows into ``blocked`` places. ``wrap(node, array, n)`` turns the saved array of an
    output back into a value, ``zeros(shape, grads)`` makes a gradient for an output that nothing flowed back
    to, ``store(leaf, gradient, fresh)`` leaves a gradient in a leaf; unless it is ``fresh``, something else
    may hold its array.

    Leaves get their gradients at the end: a pass that fails leaves none. Leaves with a watcher give it theirs
    as soon as they are complete.
    """

    def __init__(
        self,
        *,
        retain_graph: bool,
        create_graph: bool,
        wrap: Callable[[Operator, Any, int], Any],
        zeros: Callable[[tuple[int, ...], list[Any]], Any],
        store: Callable[[Leaf, Any, bool], None],
        targets: dict[Place, Any] | None = None,
        blocked: frozenset[Place] = frozenset(),
    ) -> None:
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.wrap = wrap
        self.zeros = zeros
        self.store = store
        self.targets = targets
        self.blocked = blocked
        self.leaves: dict[Leaf, tuple[Any, bool]] = {}
        self.watched: dict[Leaf, int] = {}  # how many more times something flows to them
        self.watchers: dict[Watcher, None] = {}
        self.pending: dict[Operator, list[Any]] = {}
        self.waiting: dict[Operator, int] = {}
        self.leading: dict[Operator, bool] | None = None  # for ``targets``: which operators lead to one

    def run(self, roots: Sequence[tuple[Edge, Any]]) -> None:
        """Let gradients flow back from ``roots``, pairs of an edge and the gradient to start from."""
        self._walk(self._begin(roots))
        for leaf, (gradient, fresh) in self.leaves.items():
            if self.targets is None and leaf.hooks is None:
                self.store(leaf, gradient, fresh)
            else:
                self._store(leaf, gradient, fresh)
        for watcher in self.watchers:
            watcher.finish()

    def _begin(self, roots: Sequence[tuple[Edge, Any]]) -> list[Operator]:
        """Deliver the gradients of the roots; the operators that are complete with them."""
        if self.targets is not None:
            self.leading = self._find_leading([edge for edge, _ in roots], self.targets)
        self._count(edge for edge, _ in roots)
        for edge, gradient in roots:
            self._deliver(edge, gradient, fresh=False)
            if edge in self.watched:
                self._arrived(edge)
        return [node for node in self.pending if self.waiting[node] == 0]

    def _walk(self, ready: list[Operator]) -> None:
        """Let gradients flow through operators that are ``ready``, and those that become so.

        One function although it has many branches: a call for each operator and each edge, and attributes in
        place of local names, make the backward of small operators slower by some percent.
        """
        leading, targets, blocked, waiting = self.leading, self.targets, self.blocked, self.waiting
        pending, watched = self.pending, self.watched
        gradients = self._gradients if watch.recorder is None else self._timed_gradients
        if observer.get() is not None:
            gradients = self._observed_gradients
        releases = not self.retain_graph
        frees_inside = releases and not self.create_graph
        while ready:
            node = ready.pop()
            grads = pending.pop(node, None)
            if grads is not None and (node.hooks is not None or targets is not None):
                grads = self._hooks(node, grads)
            results: list[Any]
            edges: tuple[Any, ...]
            if grads is None or (leading is not None and not leading[node]):
                edges, results = self._nothing(node)
            else:
                if node.opdef in traits.opaque:  # a whole Program may be, whose backward asks
                    frees.set(frees_inside)
                results, edges = gradients(node, grads)
            for each, gradient in zip(edges, results, strict=True):
                flowing: Iterable[tuple[Any, Any]]
                if each.__class__ is list:
                    flowing = zip(each, gradient or [None] * len(each), strict=True)
                elif each is None:
                    continue
                else:
                    flowing = ((each, gradient),)
                for edge, value in flowing:
                    if edge is None or (leading is not None and not self._wanted(edge)):
                        continue
                    if edge.__class__ is Leaf:
                        if value is not None:
                            self._reach(edge, value, grads)
                        if watched and edge in watched:
                            self._arrived(edge)
                        continue
                    if value is not None:
                        if edge.__class__ is not OutEdge and not blocked and edge not in pending:
                            pending[edge] = [value]  # whose only output it is
                        else:
                            self._deliver(edge, value, fresh=False)
                    parent: Any = edge.node if edge.__class__ is OutEdge else edge
                    left = waiting[parent] = waiting[parent] - 1
                    if left == 0:
                        ready.append(parent)
            if releases and (leading is None or leading[node]):
                release(node)

    def _nothing(self, node: Operator) -> tuple[tuple[Any, ...], list[Any]]:
        """The edges of an operator that computes no gradients: none came to it, or it leads to no target."""
        leads = self.leading is None or self.leading[node]
        edges = edges_left(node) if leads else node.edges or ()
        return edges, [None] * len(edges)

    def _reach(self, leaf: Leaf, value: Any, grads: list[Any] | None) -> None:
        """A gradient comes to a leaf, from an operator whose outputs have ``grads``."""
        fresh = True
        for gradient in grads or ():
            if gradient is value:
                fresh = False
        if self.blocked or leaf in self.leaves:
            self._deliver(leaf, value, fresh)
        else:
            self.leaves[leaf] = (value, fresh)

    def _find_leading(self, roots: Sequence[Edge], targets: dict[Place, Any]) -> dict[Operator, bool]:
        """Whether each operator behind the roots leads to a target: the others compute no gradients.

        The graph behind a freed operator is not known: the operator counts as leading, so that the walk
        refuses it, unless it is a target itself.
        """
        made_targets = {node for node, _ in targets}
        leading: dict[Operator, bool] = {}
        seen: set[Operator] = set()
        stack = [(node, False) for node, _ in map(end, roots) if node.__class__ is not Leaf]
        while stack:
            node, complete = stack.pop()
            if complete:
                leading[node] = any(
                    place in targets or leading.get(place[0], False)
                    for place in map(end, each_of(node.edges))
                ) or (node.edges is None and node not in made_targets)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack += [(n, False) for n, _ in map(end, each_of(node.edges)) if n.__class__ is not Leaf]
        return leading

    def _wanted(self, edge: Edge) -> bool:
        """Whether the gradient of ``edge`` is needed for a target."""
        if self.leading is None:
            return True
        place = end(edge)
        return place in (self.targets or ()) or self.leading.get(place[0], False)

    def _any_wanted(self, edge: Edge | list[Edge | None]) -> bool:
        if isinstance(edge, list):
            return any(each is not None and self._wanted(each) for each in edge)
        return self._wanted(edge)

    def _count(self, roots: Iterable[Edge]) -> None:
        """Count the consumers that each operator behind the roots waits for."""
        waiting = self.waiting
        stack: list[Operator] = []
        for root in roots:
            node, _ = end(root)
            if node.__class__ is not Leaf and node not in waiting:
                waiting[node] = 0
                stack.append(node)
            elif node.__class__ is Leaf and node.watcher is not None:
                self._expect(node)
        while stack:
            node = stack.pop()
            if self.leading is not None and not self.leading[node]:
                continue
            for each in edges_left(node):
                # As ``each_of``, without its generator.
                for edge in each if each.__class__ is list else (each,):
                    if edge is None:
                        continue
                    if edge.__class__ is Leaf:
                        if edge.watcher is not None:
                            self._expect(edge)
                        continue
                    if self.leading is not None and not self._wanted(edge):
                        continue
                    parent: Any = edge.node if edge.__class__ is OutEdge else edge
                    if parent in waiting:
                        waiting[parent] += 1
                    else:
                        waiting[parent] = 1
                        stack.append(parent)

    def _expect(self, leaf: Leaf) -> None:
        """Count a contribution to come for a leaf that is watched; ``grad`` stores none."""
        if self.targets is not None or not leaf.watcher.active:
            return
        self.watched[leaf] = self.watched.get(leaf, 0) + 1
        if leaf.watcher not in self.watchers:
            self.watchers[leaf.watcher] = None
            leaf.watcher.begin()

    def _arrived(self, leaf: Leaf) -> None:
        """One contribution less to wait for; the last one completes the gradient."""
        self.watched[leaf] -= 1
        if self.watched[leaf] == 0:
            gradient, _ = self.leaves.pop(leaf, (None, False))
            leaf.watcher.ready(leaf, None if gradient is None else _hooked(leaf, gradient))

    def _deliver(self, edge: Edge, gradient: Any, fresh: bool) -> None:
        node, index = end(edge)
        if self.blocked and (node, index) in self.blocked:
            return
        if node.__class__ is Leaf:
            before = self.leaves.get(node)
            # Stored at the end of the walk: hooks see the sum of all contributions, once.
            self.leaves[node] = (gradient, fresh) if before is None else (before[0] + gradient, True)
            return
        grads = self.pending.get(node)
        if grads is None:
            grads = self.pending[node] = [None] * (1 if node.opdef.single else len(node.shapes))
        grads[index] = gradient if grads[index] is None else grads[index] + gradient

    def _store(self, leaf: Leaf, gradient: Any, fresh: bool) -> None:
        gradient = _hooked(leaf, gradient)
        if self.targets is not None:
            key = (leaf, 0)
            if key in self.targets:
                before = self.targets[key]
                self.targets[key] = gradient if before is None else before + gradient
            return
        self.store(leaf, gradient, fresh)

    def _hooks(self, node: Operator, grads: list[Any]) -> list[Any]:
        hooks: Hooks | None = node.hooks
        if hooks is not None:
            for index, functions in hooks.items():
                for function in functions:
                    if grads[index] is not None:
                        replaced = function(grads[index])
                        grads[index] = grads[index] if replaced is None else replaced
        if self.targets is not None:
            for index, gradient in enumerate(grads):
                if (node, index) in self.targets and gradient is not None:
                    before = self.targets[(node, index)]
                    self.targets[(node, index)] = gradient if before is None else before + gradient
        return grads

    def _timed_gradients(self, node: Operator, grads: list[Any]) -> tuple[list[Any], tuple[Any, ...]]:
        with watch.span("Operator", f"{node.opdef.name}_grad"):
            return self._gradients(node, grads)

    def _observed_gradients(self, node: Operator, grads: list[Any]) -> tuple[list[Any], tuple[Any, ...]]:
        results, edges = self._gradients(node, grads)
        if (seen := observer.get()) is not None:
            seen(node, grads, results)
        return results, edges

    def _gradients(self, node: Operator, grads: list[Any]) -> tuple[list[Any], tuple[Any, ...]]:
        """The gradients of an operator's inputs, with the edges that they go along."""
        opdef = node.opdef
        if self.create_graph and opdef in traits.order:
            raise GradientError(
                f"{opdef.name}: has gradients of order {traits.order[opdef]} only; "
                f"call grad(create_graph=False) {at(node)}"
            )
        if opdef.saved_inputs or opdef.saved_outputs:
            check_versions(node)
        recorded = Recorded(node, grads, self.wrap, self.zeros)
        if self.leading is None:
            wanted = _names(opdef.input_names, tuple([edge is not None for edge in recorded.edges]))
        else:
            flags = tuple([edge is not None and self._any_wanted(edge) for edge in recorded.edges])
            wanted = _names(opdef.input_names, flags)
        return input_gradients(recorded, [grads] if opdef.listed else grads, wanted), recorded.edges


@lru_cache(maxsize=4096)
def _names(names: tuple[str, ...], flags: tuple[bool, ...]) -> frozenset[str]:
    """The names that are flagged."""
    return frozenset([name for name, flag in zip(names, flags, strict=True) if flag])


def _hooked(leaf: Leaf, gradient: Any) -> Any:
    """The gradient of a leaf after the hooks that users attached to it."""
    for hook in leaf.hooks or ():
        replaced = hook(gradient)
        gradient = gradient if replaced is None else replaced
    return gradient
