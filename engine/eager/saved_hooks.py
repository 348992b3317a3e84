"""Hooks on what the tape keeps for backward: packed when it is recorded, unpacked when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.autodiff.tape import Packed, end
from engine.core import mode as modes
from engine.core.errors import DTypeError, ShapeError
from engine.core.opdef import OpDef
from engine.eager.mode import NOT_RECORDING, EagerMode
from engine.eager.tensor import Tensor, wrap


class saved_tensors_hooks:
    """Within the block ``pack_hook(tensor)`` is called for each value that an operator keeps for backward.

    What it returns is kept instead (on disk, say), and ``unpack_hook`` makes a Tensor of the same shape and
    dtype from it when backward needs the value. Values kept only for their shape are not packed.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise DTypeError(f"saved_tensors_hooks: {name} is a function: got {type(hook).__name__}")
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> saved_tensors_hooks:
        modes.enter(self, PackingMode(modes.current().grad, self))
        return self

    def __exit__(self, *_: object) -> None:
        modes.leave(self)


class PackingMode(EagerMode):
    """Eager execution that hands what it keeps for backward to hooks."""

    def __init__(self, grad: bool, hooks: saved_tensors_hooks) -> None:
        super().__init__(grad)
        self.fast = False
        self.hooks = hooks

    def with_grad(self, grad: bool) -> modes.Mode:
        return self if grad == self.grad else PackingMode(grad, self.hooks)

    def apply(self, opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        result = super().apply(opdef, inputs, attrs)
        for tensor in (result,) if opdef.single else result:
            if tensor is not None and tensor._edge is not None:
                _pack(end(tensor._edge)[0], opdef)
                break
        return result


def _pack(node: Any, opdef: OpDef) -> None:
    if node.inputs is not None and opdef.saved_inputs:
        node.inputs = tuple(
            [
                value if name not in opdef.valued_inputs
                else [packed(v) for v in value] if isinstance(value, list)
                else packed(value)
                for name, value in zip(opdef.input_names, node.inputs, strict=True)
            ]
        )  # fmt: skip
    if node.outputs is not None and opdef.saved_outputs:
        node.outputs = tuple([None if a is None else packed(wrap(a), a) for a in node.outputs])


def packed(tensor: Any, plain: Any = None) -> Any:
    """What to keep for ``tensor``: what the hook of the current mode made of it, else ``plain`` or itself."""
    mode = modes.current()
    if tensor is None or not isinstance(mode, PackingMode):
        return tensor if plain is None else plain
    hooks, array = mode.hooks, tensor._array
    edge = tensor._edge if plain is None else None  # that of a result is made anew when it is unpacked
    with modes.use(NOT_RECORDING):
        value = hooks.pack_hook(wrap(array))

    def restore() -> Tensor:
        with modes.use(NOT_RECORDING):
            made = hooks.unpack_hook(value)
        if not isinstance(made, Tensor) or made._array.shape != shape or made._array.dtype != dtype:
            got = f"{made.dtype.name}{made.shape}" if isinstance(made, Tensor) else type(made).__name__
            raise ShapeError(
                f"saved_tensors_hooks: unpack_hook gave {got}: the tensor packed was {dtype}{list(shape)}; "
                "give back an equal tensor"
            )
        restored = wrap(made._array)
        restored._edge = edge
        return restored

    shape, dtype = array.shape, array.dtype
    return Packed(restore)
