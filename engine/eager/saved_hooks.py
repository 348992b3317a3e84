"""saved_tensors_hooks: packs the values that the tape saves for backward, unpacks them when needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.autodiff.edges import end
from engine.autodiff.recorded import Packed
from engine.core import mode as modes
from engine.core.errors import DTypeError, ShapeError
from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.core.place import Array
from engine.core.precision import Precision
from engine.eager.mode import NOT_RECORDING, EagerMode
from engine.eager.tensor import Tensor, wrap


class saved_tensors_hooks:
    """Within the block ``pack_hook(tensor)`` is called for each value that an operator saves for backward.

    The object that it returns is stored instead of the value, and ``unpack_hook(object)`` turns it into a
    Tensor of the same shape and dtype when backward needs the value. Values that are saved only for their
    shape are not packed. Raises DTypeError for a hook that is not callable; backward raises ShapeError where
    ``unpack_hook`` returns another shape or dtype.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise DTypeError(
                    f"saved_tensors_hooks: {name} must be callable: got {type(hook).__name__}; "
                    "pass a function"
                )
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> saved_tensors_hooks:
        mode = modes.current()
        modes.enter(self, PackingMode(mode.grad, self, mode.precision))
        return self

    def __exit__(self, *_: object) -> None:
        modes.leave(self)


class PackingMode(EagerMode):
    """Eager execution that passes the values saved for backward to hooks."""

    def __init__(self, grad: bool, hooks: saved_tensors_hooks, precision: Precision | None = None) -> None:
        super().__init__(grad, precision)
        self.fast = False
        self.hooks = hooks

    def _variant(self, grad: bool, precision: Precision | None) -> modes.Mode:
        return PackingMode(grad, self.hooks, precision)

    def apply(self, opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        result = super().apply(opdef, inputs, attrs)
        for tensor in (result,) if opdef.single else result:
            if tensor is not None and tensor._edge is not None:
                _pack(end(tensor._edge)[0], opdef)
                break
        return result


def _pack(node: Operator, opdef: OpDef) -> None:
    if node.inputs is not None and opdef.saved_inputs:
        node.inputs = tuple(
            [
                value
                if name not in opdef.valued_inputs
                else [packed(v) for v in value]
                if isinstance(value, list)
                else packed(value)
                for name, value in zip(opdef.input_names, node.inputs, strict=True)
            ]
        )
    if node.outputs is not None and opdef.saved_outputs:
        node.outputs = tuple([None if a is None else packed(wrap(a), a) for a in node.outputs])


def packed(tensor: Tensor | None, plain: Array | None = None) -> Any:
    """The object to keep for ``tensor``.

    This is a Packed under hooks; without hooks it is ``plain``, an array, where that is given, else the
    tensor itself.
    """
    mode = modes.current()
    if tensor is None or not isinstance(mode, PackingMode):
        return tensor if plain is None else plain
    hooks, array = mode.hooks, tensor._array
    edge = tensor._edge if plain is None else None  # a result gets a new edge when it is unpacked
    with modes.use(NOT_RECORDING):
        value = hooks.pack_hook(wrap(array))

    def restore() -> Tensor:
        with modes.use(NOT_RECORDING):
            made = hooks.unpack_hook(value)
        if not isinstance(made, Tensor) or made._array.shape != shape or made._array.dtype != dtype:
            got = f"{made.dtype.name}{made.shape}" if isinstance(made, Tensor) else type(made).__name__
            raise ShapeError(
                f"saved_tensors_hooks: unpack_hook returned {got}: the packed tensor was "
                f"{dtype}{list(shape)}; return a tensor of the same shape and dtype"
            )
        restored = wrap(made._array)
        restored._edge = edge
        return restored

    shape, dtype = array.shape, array.dtype
    return Packed(restore)
