"""backward() and grad() of eager tensors, retained gradients, and hooks on gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, TypeAlias

import numpy as np

from engine.autodiff.edges import Edge, end
from engine.autodiff.recorded import Packed
from engine.autodiff.tape import Hooks, Retained, Walk
from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, GradientError, ShapeError
from engine.core.operators.operator import Leaf, Operator, OutEdge, lock_of
from engine.core.place import array_module
from engine.core.spans import watch
from engine.core.strictness import tolerate
from engine.core.values.bfloat import add_to, adopt, filled, is_bfloat16
from engine.core.values.dtype import bfloat16
from engine.eager import tensor as delegates
from engine.eager.counting import paused
from engine.eager.mode import EagerMode
from engine.eager.sparse import SparseTensor, values_at
from engine.eager.tensor import Tensor, counter_of, wrap

Place: TypeAlias = tuple[Operator | Leaf, int]
"""The record that an edge leads to, and the number of the output whose gradient it takes."""
Hook: TypeAlias = Callable[[Tensor], Tensor | None]


@delegates.backward.define
def backward(
    tensors: Sequence[Tensor], grads: Sequence[Tensor | None] | None = None, retain_graph: bool = False
) -> None:
    """Add the gradients of ``tensors`` to the ``grad`` of every leaf they depend on.

    ``grads`` are the gradients to start from, each of its tensor's shape; None means ones. Raises
    GradientError if the graph was freed, or a needed value was changed in place; ShapeError or DTypeError for
    a gradient that does not fit. A tensor with stop_gradient=True, for which nothing was recorded, gives a
    LeniencyWarning and no gradients.
    """
    training = modes.current().training
    if training is not None:
        for tensor, start in zip(tensors, grads or [None] * len(tensors), strict=True):
            training.backward(tensor, start)
        return
    roots = _roots("backward", tensors, grads)
    with watch.span("Backward", "Gradient Backward"):
        _walk(roots, retain_graph, create_graph=False, targets=None)


def backward_of(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
) -> None:
    """``paddle.autograd.backward``: ``backward`` of a Tensor or a list of them, with checked arguments.

    ``grad_tensors`` holds the gradients to start from, None for ones. Raises DTypeError for values that are
    not Tensors, ArgumentError for a tensor given twice, and the errors of ``backward``.
    """
    found = [tensors] if isinstance(tensors, Tensor) else tensors
    grads = [grad_tensors] if isinstance(grad_tensors, Tensor) else grad_tensors
    for name, values in (("tensors", found), ("grad_tensors", grads)):
        if values is None and name == "grad_tensors":
            continue
        if not isinstance(values, (list, tuple)) or not all(
            isinstance(v, Tensor) or (v is None and name == "grad_tensors") for v in values
        ):
            raise DTypeError(f"backward: {name} is a Tensor or a list of them: got {values!r}")
    if len({id(t) for t in found}) != len(found):
        raise ArgumentError(
            f"backward: tensors holds {len(found)} tensors, some of them twice; pass each tensor once"
        )
    backward(found, grads, retain_graph)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Tensor | Iterable[Tensor] | None = None,
) -> list[Tensor | None]:
    """Gradients of ``outputs`` with respect to ``inputs``, without changing any ``grad``.

    Returns one gradient for each input, of the input's shape. With ``create_graph`` the gradients can be
    differentiated again. Nothing flows through ``no_grad_vars``. Raises GradientError for an input that the
    outputs do not depend on, unless ``allow_unused`` (then its gradient is None).
    """
    results, arguments = _listed("outputs", outputs), _listed("inputs", inputs)
    starts: Sequence[Tensor | None] | None
    starts = [grad_outputs] if isinstance(grad_outputs, Tensor) else grad_outputs
    if not only_inputs:
        raise ArgumentError("grad: only_inputs=False is not supported, as in Paddle; call backward()")
    places: list[Place | None] = []
    for n, tensor in enumerate(arguments):
        if tensor._edge is None and not allow_unused:
            raise GradientError(
                f"grad: inputs[{n}] has stop_gradient=True; set it to False before the computation, or pass "
                "allow_unused=True to get None for it"
            )
        places.append(None if tensor._edge is None else end(tensor._edge))
    targets: dict[Place, Tensor | None] = dict.fromkeys(place for place in places if place is not None)
    excluded = [no_grad_vars] if isinstance(no_grad_vars, Tensor) else list(no_grad_vars or ())
    blocked: frozenset[Place] = frozenset(end(t._edge) for t in excluded if t._edge is not None)
    retain = create_graph if retain_graph is None else retain_graph
    _walk(_roots("grad", results, starts), retain, create_graph, targets, blocked)
    found = [None if place is None else targets[place] for place in places]
    for n, value in enumerate(found):
        if value is None and not allow_unused:
            raise GradientError(
                f"grad: the outputs do not depend on inputs[{n}] of shape {arguments[n].shape}; pass "
                "allow_unused=True to get None for it"
            )
    return [
        t.with_values(g) if isinstance(t, SparseTensor) and g is not None else g
        for t, g in zip(arguments, found, strict=True)
    ]


def _listed(name: str, values: object) -> list[Tensor]:
    given = values if isinstance(values, (list, tuple)) else [values]
    listed = [v for v in given if isinstance(v, Tensor)]
    if len(listed) != len(given):
        raise DTypeError(f"grad: {name} is a Tensor or a list of them: got {type(values).__name__}")
    if not listed:
        raise ArgumentError(f"grad: {name} is empty; pass at least one Tensor")
    return listed


def _roots(
    where: str, tensors: Sequence[Tensor], grads: Sequence[Tensor | None] | None
) -> list[tuple[Edge, Tensor]]:
    """The edge of each tensor with the gradient to start from. Raises the errors of ``backward``."""
    grads = grads if grads is not None else [None] * len(tensors)
    if len(grads) != len(tensors):
        raise ArgumentError(f"{where}: {len(tensors)} tensors but {len(grads)} gradients; pass one for each")
    roots: list[tuple[Edge, Tensor]] = []
    for tensor, start in zip(tensors, grads, strict=True):
        if tensor._edge is None:
            tolerate(
                GradientError(
                    f"{where}: the tensor of shape {tensor.shape} has stop_gradient=True: nothing was "
                    "recorded for it; set stop_gradient=False on an input, and compute outside of no_grad()"
                )
            )
            continue
        if start is not None and not isinstance(start, Tensor):
            raise DTypeError(
                f"{where}: the gradient to start from must be a Tensor: got {type(start).__name__}; "
                "use to_tensor()"
            )
        edge = tensor._edge
        if isinstance(tensor, SparseTensor):
            start = None if start is None else values_at(tensor, start)
            tensor = tensor._values
        if start is None:
            array, xp = tensor._array, array_module(tensor._array)
            start = wrap(filled(xp, array.shape, 1, bfloat16) if is_bfloat16(array) else xp.ones_like(array))
        elif start._array.shape != tensor._array.shape:
            raise ShapeError(
                f"{where}: the gradient to start from has shape {start.shape}, its tensor {tensor.shape}; "
                "make them equal"
            )
        roots.append((edge, start))
    return roots


def _walk(
    roots: Sequence[tuple[Edge, Tensor]],
    retain_graph: bool,
    create_graph: bool,
    targets: dict[Place, Tensor | None] | None,
    blocked: frozenset[Place] = frozenset(),
) -> None:
    walk = Walk(
        retain_graph=retain_graph,
        create_graph=create_graph,
        wrap=_rewrap,
        zeros=_zeros,
        store=_Store(),
        targets=targets,
        blocked=blocked,
    )
    uncounted = paused() if EagerMode.watchers else nullcontext()
    with modes.use(modes.current().with_grad(create_graph).with_precision(None)), uncounted:
        walk.run(roots)


def _rewrap(node: Operator, saved: Any, index: int) -> Tensor:
    made = saved.restore() if saved.__class__ is Packed else wrap(saved)
    made._edge = node if node.opdef.single else OutEdge(node, index)
    return made


def _zeros(shape: tuple[int, ...], like: Sequence[Any]) -> Tensor:
    model = next(g._array for g in like if g is not None)
    return wrap(adopt(array_module(model).zeros(shape, model.dtype)))


class _Store:
    """Stores gradients in leaves; every leaf gets its own array, to which later gradients are added."""

    __slots__ = ("taken",)

    def __init__(self) -> None:
        self.taken: dict[int, Any] = {}  # arrays that belong to a leaf now; held, so that no id returns

    def __call__(self, leaf: Leaf, gradient: Tensor, fresh: bool) -> None:
        with lock_of(leaf):
            existing: Any = leaf.grad
            if existing is None or leaf.cleared is not None:
                array = gradient._array
                # The gradient itself if nothing else can refer to its array, else a copy.
                if fresh and array.base is None and id(array) not in self.taken:
                    self.taken[id(array)] = array
                else:
                    gradient = _copied(gradient)
                leaf.grad, leaf.cleared, leaf.shown = gradient, None, False
                return
            held, added = existing._array, gradient._array
            if held.__class__ is added.__class__ and held.dtype == added.dtype:
                add_to(held, added)
                counter_of(existing).count += 1
            else:
                leaf.grad = existing + gradient


def leaver() -> Callable[[Leaf, Tensor, bool], None]:
    """A function that leaves the gradients of one backward in leaves; ``fresh``: nothing else holds them."""
    return _Store()


def _copied(gradient: Tensor) -> Tensor:
    made = wrap(gradient._array.copy())
    made._edge = gradient._edge
    return made


@delegates.gradient_of.define
def gradient_of(tensor: Tensor) -> Tensor | None:
    """The value of ``tensor.grad``: as in Paddle a leaf with stop_gradient=False, or None."""
    training = modes.current().training
    if training is not None:
        return training.gradient(tensor)  # type: ignore[no-any-return]
    edge = tensor._edge or getattr(tensor, "_parked", None)
    if edge.__class__ is Leaf:
        edge.shown = True
        found = leaf_gradient(edge)
    else:
        retained: Retained | None = getattr(tensor, "_retained", None)
        found = None if retained is None else retained.grad
    if found is not None and found._edge is None:
        found._edge = Leaf(found._array.shape)
    return found


def leaf_gradient(leaf: Leaf) -> Tensor | None:
    """The gradient that a leaf collected, zeros where it was set to zero, or None."""
    if leaf.grad is None and leaf.cleared is not None:
        with lock_of(leaf):
            if leaf.grad is None and leaf.cleared is not None:
                zeros, dtype = leaf.cleared
                leaf.grad = wrap(adopt(zeros(leaf.shape, dtype)))
    found: Tensor | None = leaf.grad
    return found


def detach_in_place(tensor: Tensor) -> Tensor:
    """Detach the tensor from its graph: it becomes a leaf with stop_gradient=True. Returns the tensor."""
    tensor._edge = None
    return tensor


def record_of(tensor: Tensor) -> Operator | Leaf | None:
    """The value of ``tensor.grad_fn``: the record that produced the tensor, None with stop_gradient=True."""
    if tensor._edge is None:
        return None
    node: Operator | Leaf = end(tensor._edge)[0]
    return node


def clear_gradient(tensor: Tensor, set_to_zero: bool = True) -> None:
    """Set the gradient to zeros, or to None with ``set_to_zero=False``; no gradient stays None.

    Arrays of it that other code may hold become zeros too; else its memory is freed at once.
    """
    clear_gradients((tensor,), set_to_zero)


def clear_gradients(tensors: Iterable[Tensor], set_to_zero: bool = True) -> None:
    """``clear_gradient`` of each of the tensors."""
    training = modes.current().training
    for tensor in tensors:
        if training is None:
            _clear(tensor, set_to_zero)
        else:
            training.clear(tensor, set_to_zero)


def _clear(tensor: Tensor, set_to_zero: bool) -> None:
    edge = tensor._edge or getattr(tensor, "_parked", None)
    if edge.__class__ is not Leaf:
        retained: Retained | None = getattr(tensor, "_retained", None)
        if retained is not None and retained.grad is not None:
            if set_to_zero:
                _set_to_zero(retained.grad)
            else:
                retained.grad = None
        return
    with lock_of(edge):
        if not set_to_zero:
            edge.grad = edge.cleared = None
        elif edge.grad is not None:
            array = edge.grad._array
            zeros = np.zeros if array.__class__ is np.ndarray else array_module(array).zeros
            edge.cleared = (zeros, array.dtype)
            if edge.shown:
                _set_to_zero(edge.grad)
            else:
                edge.grad = None


def _set_to_zero(gradient: Tensor) -> None:
    gradient._array[...] = 0
    counter_of(gradient).count += 1


def retain_grads(tensor: Tensor) -> None:
    """Keep the gradient of a tensor that an operator produced, so that ``grad`` shows it after backward.

    It is the gradient of the value that the tensor has at this call, also where it is changed in place later.
    """
    if tensor._edge is None:
        tolerate(
            GradientError(
                f"retain_grads: the tensor of shape {tensor.shape} has stop_gradient=True: no gradient; "
                "set stop_gradient=False on an input before the computation"
            )
        )
        return
    node, index = end(tensor._edge)
    if node.__class__ is Leaf or getattr(tensor, "_retained", None) is not None:
        return
    tensor._retained = Retained(_copied)
    _functions(node, index).append(tensor._retained)


class HookHandle:
    """Removes a registered hook."""

    def __init__(self, functions: list[Hook], hook: Hook) -> None:
        self._functions = functions
        self._hook = hook

    def remove(self) -> bool:
        """Remove the hook; returns False if it was removed before."""
        if self._hook in self._functions:
            self._functions.remove(self._hook)
            return True
        return False


def register_hook(tensor: Tensor, hook: Hook) -> HookHandle:
    """Call ``hook(gradient)`` when backward has computed the gradient of ``tensor``.

    A Tensor that the hook returns replaces the gradient. Raises GradientError for a tensor with
    stop_gradient=True, DTypeError for a hook that is not callable.
    """
    if tensor._edge is None:
        raise GradientError(
            f"register_hook: the tensor of shape {tensor.shape} has stop_gradient=True: no gradient; "
            "set stop_gradient=False on an input before the computation"
        )
    if not callable(hook):
        raise DTypeError(
            f"register_hook: the hook must be callable: got {type(hook).__name__}; pass a function of the "
            "gradient"
        )
    node, index = end(tensor._edge)
    if node.__class__ is Leaf:
        node.hooks = node.hooks if node.hooks is not None else []
        functions: list[Hook] = node.hooks
    else:
        functions = _functions(node, index)
    functions.append(hook)
    return HookHandle(functions, hook)


def _functions(node: Operator, index: int) -> list[Hook]:
    if node.hooks is None:
        node.hooks = {}
    hooks: Hooks = node.hooks
    return hooks.setdefault(index, [])
