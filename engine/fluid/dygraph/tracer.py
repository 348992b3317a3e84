"""The tracer of a ``guard``: the parameters made in it, training or evaluation, gradients of inner values.

In fluid these belong to the guard and not to a Layer: ``minimize`` updates what the tracer knows, ``eval()``
of any Layer switches the whole guard, and every value keeps its gradient after ``backward()``.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.autodiff.edges import each_of, end
from engine.autodiff.tape import Hooks
from engine.core import mode as modes
from engine.core import names
from engine.core.context import Setting
from engine.core.errors import GradientError
from engine.core.operators.operator import Leaf, Operator, OutEdge
from engine.core.strictness import tolerate
from engine.eager.backward import leaf_gradient
from engine.eager.mode import NOT_RECORDING, RECORDING
from engine.eager.tensor import Parameter, Tensor, wrap
from engine.tensor.creation import zeros_like


class Tracer:
    """What one guard knows."""

    def __init__(self) -> None:
        self.training = True
        self._parameters: list[weakref.ref[Parameter]] = []
        self._kept: list[object] = []

    def add_parameter(self, parameter: Any) -> None:
        """Remember ``parameter`` as long as a Layer or a script holds it; none of a Program."""
        if isinstance(parameter, Parameter):
            self._parameters.append(weakref.ref(parameter))

    def keep(self, layer: object) -> None:
        """Hold a Layer that only a function knows, so that its parameters are trained."""
        self._kept.append(layer)

    def all_parameters(self) -> list[Parameter]:
        """The parameters made in the guard that still exist, in the order of their making."""
        return [found for found in (reference() for reference in self._parameters) if found is not None]

    @property
    def _train_mode(self) -> bool:
        return self.training

    def records_inputs(self) -> bool:
        """Whether values that the script gives have gradients although their stop_gradient is True.

        So it is in 1.5, where each value has one. In a guard with Layers, which have names, they have none:
        they would cost as much as a layer.
        """
        recording = self.training and modes.current().grad
        return recording and not self._parameters and set(names.prefixes()) <= {"generated_tensor"}

    def _clear_ops(self) -> None:
        """Nothing: what no value refers to any more is gone already. Scripts of 1.5 call it."""

    def train_mode(self) -> None:
        """Record operators for backward from here on; dropout drops, batch norm uses its batch."""
        self.training = True
        if not modes.is_static():
            modes.variable.set(RECORDING)

    def eval_mode(self) -> None:
        """Record nothing from here on; dropout and batch norm are as in inference."""
        self.training = False
        if not modes.is_static():
            modes.variable.set(NOT_RECORDING)

    def prepare(self, root: Tensor) -> bool:
        """Keep the gradient of every value that ``root`` depends on, at the next backward; whether it can be.

        They live as long as the values do. A backward frees its graph: results of that graph are constants
        from then on, as where fluid has cleared its tape, which a LeniencyWarning says. False where ``root``
        is one.
        """
        if root._edge is None:
            return True
        first, _ = end(root._edge)
        stack, seen, used = [first], {id(first)}, 0
        while stack:
            node = stack.pop()
            if node.__class__ is Leaf:
                continue
            if node.edges is None:
                used += 1
                break
            _keep(node)
            before = used
            for edge in each_of(node.edges):
                parent = edge.node if edge.__class__ is OutEdge else edge
                if parent.__class__ is Leaf:
                    continue
                if parent.edges is None:
                    used += 1
                elif id(parent) not in seen:
                    seen.add(id(parent))
                    stack.append(parent)
            if used > before:
                node.edges = tuple(map(_unused, node.edges))
        if used:
            tolerate(
                GradientError(
                    "backward: an earlier backward went through values that this one depends on, and freed "
                    "their graph: they are constants now; call backward(retain_graph=True) the first time"
                )
            )
        return first.__class__ is Leaf or first.edges is not None

    def gradient(self, tensor: Tensor) -> Tensor | None:
        """The gradient of ``tensor`` after a backward through it; None where there is none."""
        node, index = _origin(tensor)
        if node is None or node.__class__ is Leaf:
            return None if node is None else leaf_gradient(node)
        found = _gradient_hook(node, index)
        if found is not None and found.grad is None and not node.opdef.single:
            # Nothing came back to this output: of the zeros that fluid makes for the others' sake.
            others = (_gradient_hook(node, n) for n, _ in enumerate(node.shapes))
            some = next((hook.grad for hook in others if hook is not None and hook.grad is not None), None)
            if some is not None and tensor._array.dtype.kind == "f":
                found.grad = zeros_like(wrap(tensor._array))
        return None if found is None else found.grad

    def clear_gradient(self, tensor: Tensor) -> bool:
        """Set the gradient of a value that an operator computed to zeros; False for another value."""
        node, index = _origin(tensor)
        if node is None or node.__class__ is Leaf:
            return False
        hook = _gradient_hook(node, index)
        if hook is not None and hook.grad is not None:
            hook.grad = zeros_like(hook.grad)
        return True


class _GradientHook:
    """The gradient of an inner value; it stands among the operator's hooks and lives as long as that."""

    __slots__ = ("grad",)

    def __init__(self) -> None:
        self.grad: Any = None

    def __call__(self, gradient: Any) -> None:
        self.grad = gradient


def _origin(tensor: Tensor) -> tuple[Any, int]:
    """The leaf or operator that ``tensor`` comes from, and which of its outputs it is; None where neither."""
    edge = tensor._edge or getattr(tensor, "_parked", None)
    return (None, 0) if edge is None else end(edge)


def _keep(node: Operator) -> None:
    if node.hooks is None and node.opdef.single:  # most are so
        node.hooks = {0: [_GradientHook()]}
        return
    hooks: Hooks = node.hooks or {}
    for index in range(1 if node.opdef.single else len(node.shapes)):
        if _gradient_hook(node, index) is None:
            hooks.setdefault(index, []).append(_GradientHook())
    node.hooks = hooks


def _unused(edge: Any) -> Any:
    """``edge``, a list of edges without those that lead to an operator whose graph is freed."""
    if edge.__class__ is list:
        return [_unused(each) for each in edge]
    parent = edge.node if edge.__class__ is OutEdge else edge
    return None if parent is None or (parent.__class__ is not Leaf and parent.edges is None) else edge


def _gradient_hook(node: Operator, index: int) -> _GradientHook | None:
    hooks: Hooks = node.hooks or {}
    return next((hook for hook in hooks.get(index, ()) if isinstance(hook, _GradientHook)), None)


_current: Setting[Tracer | None] = Setting("fluid_tracer", None)


def current() -> Tracer | None:
    """The tracer in force: that of the innermost guard, else the one of ``enable_dygraph``, else None."""
    return _current.get()


def switch(tracer: Tracer | None) -> Tracer | None:
    """Make ``tracer`` the one in force without a guard; returns the one before."""
    return _current.set(tracer)


@contextmanager
def use(tracer: Tracer) -> Iterator[Tracer]:
    """Make ``tracer`` the one in force within the block, in this context only."""
    with _current.guard(tracer):
        yield tracer


def is_test() -> bool:
    """Whether operators take their way of inference because the guard is in evaluation mode."""
    tracer = _current.get()
    return tracer is not None and not tracer.training
