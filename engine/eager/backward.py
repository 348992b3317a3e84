"""backward() and grad() of eager tensors, retained gradients and hooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.autodiff.tape import Hooks, Packed, Walk, end
from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, GradientError, ShapeError
from engine.core.operator import Leaf, Operator, OutEdge
from engine.core.place import array_module
from engine.eager.tensor import Tensor, wrap


def backward(
    tensors: Sequence[Tensor], grads: Sequence[Tensor | None] | None = None, retain_graph: bool = False
) -> None:
    """Add the gradients of ``tensors`` to the ``grad`` of every leaf they depend on.

    ``grads`` are the gradients to start from, ones by default. Raises GradientError if the graph was freed or
    a needed value changed in place.

    Differs from Paddle: a tensor with stop_gradient=True is refused; Paddle silently does nothing.
    """
    roots = _roots("backward", tensors, grads)
    _walk(roots, retain_graph, create_graph=False, targets=None)


def backward_of(tensors: Any, grad_tensors: Any = None, retain_graph: bool = False) -> None:
    """Add the gradients of several tensors to the ``grad`` of every leaf they depend on.

    ``grad_tensors`` holds the gradients to start from, None for ones. Raises DTypeError for what is no
    Tensor, ArgumentError for a tensor given twice, GradientError as ``Tensor.backward``.
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
        raise ArgumentError("backward: a tensor stands twice in tensors; give each once")
    backward(found, grads, retain_graph)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
) -> list[Tensor | None]:
    """Gradients of ``outputs`` with respect to ``inputs``, touching no ``grad``.

    With ``create_graph`` the result can be differentiated again. Raises GradientError for an input that the
    outputs do not depend on, unless ``allow_unused`` (then its gradient is None).
    """
    outputs = _listed("outputs", outputs)
    inputs = _listed("inputs", inputs)
    if isinstance(grad_outputs, Tensor) or grad_outputs is None:
        grad_outputs = [grad_outputs] * (1 if grad_outputs is not None else len(outputs))
    if not only_inputs:
        raise ArgumentError("grad: only_inputs=False is not supported by Paddle either; call backward()")
    for n, tensor in enumerate(inputs):
        if tensor._edge is None:
            raise GradientError(
                f"grad: inputs[{n}] has stop_gradient=True; set it to False before the computation"
            )
    targets: dict[tuple[Any, int], Any] = {end(t._edge): None for t in inputs}
    excluded = [no_grad_vars] if isinstance(no_grad_vars, Tensor) else list(no_grad_vars or ())
    blocked = frozenset(end(t._edge) for t in excluded if t._edge is not None)
    retain = create_graph if retain_graph is None else retain_graph
    _walk(_roots("grad", outputs, grad_outputs), retain, create_graph, targets, blocked)
    found = [targets[end(t._edge)] for t in inputs]
    for n, value in enumerate(found):
        if value is None and not allow_unused:
            raise GradientError(
                f"grad: the outputs do not depend on inputs[{n}]; pass allow_unused=True to get None for it"
            )
    return found


def _listed(name: str, values: Any) -> list[Tensor]:
    listed = list(values) if isinstance(values, (list, tuple)) else [values]
    if not all(isinstance(v, Tensor) for v in listed):
        raise DTypeError(f"grad: {name} is a Tensor or a list of them: got {type(values).__name__}")
    if not listed:
        raise ArgumentError(f"grad: {name} is empty; pass at least one Tensor")
    return listed


def _roots(
    where: str, tensors: Sequence[Tensor], grads: Sequence[Tensor | None] | None
) -> list[tuple[Any, Tensor]]:
    grads = grads if grads is not None else [None] * len(tensors)
    if len(grads) != len(tensors):
        raise ArgumentError(f"{where}: {len(tensors)} tensors but {len(grads)} gradients; pass one for each")
    roots = []
    for tensor, start in zip(tensors, grads, strict=True):
        if tensor._edge is None:
            raise GradientError(
                f"{where}: the tensor of shape {tensor.shape} has stop_gradient=True, nothing was recorded "
                "for it; set stop_gradient=False on an input, and compute outside no_grad()"
            )
        if start is not None and not isinstance(start, Tensor):
            raise DTypeError(f"{where}: the gradient to start from is a Tensor: got {type(start).__name__}")
        if start is None:
            start = wrap(array_module(tensor._array).ones_like(tensor._array))
        elif start._array.shape != tensor._array.shape:
            raise ShapeError(
                f"{where}: the gradient has shape {start.shape}: the tensor {tensor.shape}; make them equal"
            )
        roots.append((tensor._edge, start))
    return roots


def _walk(
    roots: Any, retain_graph: bool, create_graph: bool, targets: Any, blocked: frozenset[Any] = frozenset()
) -> None:
    walk = Walk(
        retain_graph=retain_graph,
        create_graph=create_graph,
        wrap=_rewrap,
        zeros=_zeros,
        own=_own,
        targets=targets,
        blocked=blocked,
    )
    with modes.use(modes.current().with_grad(create_graph)):
        walk.run(roots)


def _rewrap(node: Operator, index: int) -> Tensor:
    kept = node.outputs[index]
    made = kept.restore() if kept.__class__ is Packed else wrap(kept)
    made._edge = node if node.opdef.single else OutEdge(node, index)
    return made


def _zeros(shape: tuple[int, ...], like: Sequence[Any]) -> Tensor:
    model = next(g._array for g in like if g is not None)
    return wrap(array_module(model).zeros(shape, model.dtype))


def _own(gradient: Tensor, fresh: bool) -> Tensor:
    """The gradient itself if nothing else can hold its array, else a copy."""
    if fresh and gradient._array.base is None:
        return gradient
    made = wrap(gradient._array.copy())
    made._edge = gradient._edge
    return made


def gradient_of(tensor: Tensor) -> Tensor | None:
    """What ``tensor.grad`` shows: as in Paddle a leaf of its own, with stop_gradient=False."""
    found = _gradient_of(tensor)
    if found is not None and found._edge is None:
        found._edge = Leaf(found._array.shape)
    return found


def _gradient_of(tensor: Tensor) -> Tensor | None:
    edge = tensor._edge or getattr(tensor, "_parked", None)
    if edge is None:
        return None
    node, index = end(edge)
    if node.__class__ is Leaf:
        if node.grad is None and node.cleared is not None:
            zeros, dtype = node.cleared
            node.grad, node.cleared = wrap(zeros(node.shape, dtype)), None
        found: Tensor | None = node.grad
        return found
    return node.hooks.retained.get(index) if node.hooks is not None else None


def detach_in_place(tensor: Tensor) -> Tensor:
    """Cut the tensor from the graph that made it: it is a leaf with stop_gradient=True; returns it."""
    tensor._edge = None
    return tensor


def record_of(tensor: Tensor) -> Operator | Leaf | None:
    """What ``tensor.grad_fn`` shows: the record of what made it, None where it has no gradient."""
    return None if tensor._edge is None else end(tensor._edge)[0]


def clear_gradient(tensor: Tensor, set_to_zero: bool = True) -> None:
    """Set the gradient to zero, or drop it."""
    edge = tensor._edge or getattr(tensor, "_parked", None)
    if edge.__class__ is Leaf:
        if edge.grad is not None:
            array, edge.grad = edge.grad._array, None
            edge.cleared = (array_module(array).zeros, array.dtype) if set_to_zero else None
        elif not set_to_zero:
            edge.cleared = None
    elif edge is not None:
        node, index = end(edge)
        if node.hooks is not None and (before := node.hooks.retained.get(index)) is not None:
            node.hooks.retained[index] = None
            if set_to_zero:
                node.hooks.retained[index] = wrap(array_module(before._array).zeros_like(before._array))


def retain_grads(tensor: Tensor) -> None:
    """Keep the gradient of a tensor that an operator made."""
    if tensor._edge is None:
        raise GradientError("retain_grads: the tensor has stop_gradient=True; it gets no gradient")
    node, index = end(tensor._edge)
    if node.__class__ is not Leaf:
        _hooks(node).retained.setdefault(index, None)


class HookHandle:
    """Removes a hook that was registered."""

    def __init__(self, functions: list[Callable[..., Any]], hook: Callable[..., Any]) -> None:
        self._functions = functions
        self._hook = hook

    def remove(self) -> bool:
        """Remove the hook; False if it was removed before."""
        if self._hook in self._functions:
            self._functions.remove(self._hook)
            return True
        return False


def register_hook(tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
    """Call ``hook(gradient)`` when the gradient of ``tensor`` is known; what it returns takes its place."""
    if tensor._edge is None:
        raise GradientError("register_hook: the tensor has stop_gradient=True; it gets no gradient")
    if not callable(hook):
        raise DTypeError(f"register_hook: takes a function of the gradient: got {type(hook).__name__}")
    node, index = end(tensor._edge)
    if node.__class__ is Leaf:
        node.hooks = node.hooks if node.hooks is not None else []
        functions = node.hooks
    else:
        functions = _hooks(node).functions.setdefault(index, [])
    functions.append(hook)
    return HookHandle(functions, hook)


def _hooks(node: Operator) -> Hooks:
    if node.hooks is None:
        node.hooks = Hooks()
    hooks: Hooks = node.hooks
    return hooks
