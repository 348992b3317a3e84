"""backward() and grad() of eager tensors, retained gradients, and hooks on gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from engine.autodiff.edges import Edge, end
from engine.autodiff.recorded import Packed
from engine.autodiff.tape import Hooks, Walk
from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, GradientError, ShapeError
from engine.core.operator import Leaf, Operator, OutEdge
from engine.core.place import array_module
from engine.eager.tensor import Tensor, wrap

Place: TypeAlias = tuple[Operator | Leaf, int]
"""The record that an edge leads to, and the number of the output whose gradient it takes."""
Hook: TypeAlias = Callable[[Tensor], Tensor | None]


def backward(
    tensors: Sequence[Tensor], grads: Sequence[Tensor | None] | None = None, retain_graph: bool = False
) -> None:
    """Add the gradients of ``tensors`` to the ``grad`` of every leaf they depend on.

    ``grads`` are the gradients to start from, each of its tensor's shape; None stands for ones. Raises
    GradientError if nothing was recorded for a tensor, the graph was freed, or a needed value was changed in
    place; ShapeError or DTypeError for a gradient that does not fit.

    Differs from Paddle: a tensor with stop_gradient=True is an error; Paddle silently does nothing.
    """
    roots = _roots("backward", tensors, grads)
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
    places: list[Place] = []
    for n, tensor in enumerate(arguments):
        if tensor._edge is None:
            raise GradientError(
                f"grad: inputs[{n}] has stop_gradient=True; set it to False before the computation"
            )
        places.append(end(tensor._edge))
    targets: dict[Place, Tensor | None] = dict.fromkeys(places)
    excluded = [no_grad_vars] if isinstance(no_grad_vars, Tensor) else list(no_grad_vars or ())
    blocked: frozenset[Place] = frozenset(end(t._edge) for t in excluded if t._edge is not None)
    retain = create_graph if retain_graph is None else retain_graph
    _walk(_roots("grad", results, starts), retain, create_graph, targets, blocked)
    found = [targets[place] for place in places]
    for n, value in enumerate(found):
        if value is None and not allow_unused:
            raise GradientError(
                f"grad: the outputs do not depend on inputs[{n}] of shape {arguments[n].shape}; pass "
                "allow_unused=True to get None for it"
            )
    return found


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
            raise GradientError(
                f"{where}: the tensor of shape {tensor.shape} has stop_gradient=True: nothing was recorded "
                "for it; set stop_gradient=False on an input, and compute outside of no_grad()"
            )
        if start is not None and not isinstance(start, Tensor):
            raise DTypeError(
                f"{where}: the gradient to start from must be a Tensor: got {type(start).__name__}; "
                "use to_tensor()"
            )
        if start is None:
            start = wrap(array_module(tensor._array).ones_like(tensor._array))
        elif start._array.shape != tensor._array.shape:
            raise ShapeError(
                f"{where}: the gradient to start from has shape {start.shape}, its tensor {tensor.shape}; "
                "make them equal"
            )
        roots.append((tensor._edge, start))
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
    """The gradient itself if nothing else can refer to its array, else a copy."""
    if fresh and gradient._array.base is None:
        return gradient
    made = wrap(gradient._array.copy())
    made._edge = gradient._edge
    return made


def gradient_of(tensor: Tensor) -> Tensor | None:
    """The value of ``tensor.grad``: as in Paddle a new leaf with stop_gradient=False, or None."""
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
    """Set the gradient to zeros, or to None with ``set_to_zero=False``; no gradient stays None."""
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
    """Keep the gradient of a tensor that an operator produced, so that ``grad`` shows it after backward."""
    if tensor._edge is None:
        raise GradientError(
            f"retain_grads: the tensor of shape {tensor.shape} has stop_gradient=True: no gradient; "
            "set stop_gradient=False on an input before the computation"
        )
    node, index = end(tensor._edge)
    if node.__class__ is not Leaf:
        _hooks(node).retained.setdefault(index, None)


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
        functions = _hooks(node).functions.setdefault(index, [])
    functions.append(hook)
    return HookHandle(functions, hook)


def _hooks(node: Operator) -> Hooks:
    if node.hooks is None:
        node.hooks = Hooks()
    hooks: Hooks = node.hooks
    return hooks
