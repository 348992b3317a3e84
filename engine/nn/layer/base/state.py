"""The state of a tree of layers: collecting it into a dict, and setting it from one."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from engine.core.delegate import delegate
from engine.core.errors import DTypeError
from engine.core.values.dtype import DType
from engine.nn.layer.base.hooks import Hooks


class LayerTree(Protocol):
    """What the functions of this folder use of a Layer, whose class stands above them."""

    _parameters: Any
    _buffers: Any
    _sub_layers: Any
    _non_persistable_buffer_names_set: set[str]
    _state_dict_hooks: Hooks
    _dtype: str | DType

    def sublayers(self, include_self: bool = False) -> Sequence[LayerTree]:
        """The layers below, and itself with ``include_self``."""

    def apply(self, fn: Callable[[LayerTree], Any]) -> Any:
        """Call ``fn`` on every layer of the tree."""

    def extra_repr(self) -> str:
        """What the text of a layer says between its brackets."""


class TorchState(OrderedDict[str, Any]):
    """A state dict of PyTorch: tensors by PyTorch's names, in PyTorch's layouts.

    ``set_state_dict`` translates it by the classes of the layers that it finds.
    """


class StateReport(tuple[list[str], list[str]]):
    """What ``set_state_dict`` did with a :class:`TorchState`: the missing and the unexpected keys, as of any
    other state dict, and more.

    ``missing`` are names of the layer that got no value, ``left_over`` names of the state that belong to no
    layer, ``matched`` names of the layer that got one, and ``transposed`` those of them whose matrix is
    transposed.
    """

    matched: list[str]
    transposed: list[str]

    def __new__(
        cls, missing: list[str], left_over: list[str], matched: list[str], transposed: list[str]
    ) -> StateReport:
        found = super().__new__(cls, (missing, left_over))
        found.matched, found.transposed = matched, transposed
        return found

    @property
    def missing(self) -> list[str]:
        return self[0]

    @property
    def left_over(self) -> list[str]:
        return self[1]

    def __str__(self) -> str:
        parts = [f"{len(self.matched)} matched", _counted(self.transposed, "transposed")]
        return ", ".join([*parts, _counted(self.missing, "missing"), _counted(self.left_over, "left over")])


_SHOWN = 5


def _counted(names: list[str], what: str) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{len(names)} {what}" + (f" ({', '.join(names[:_SHOWN])}{more})" if names else "")


def collect(
    layer: LayerTree,
    destination: dict[str, Any] | None = None,
    include_sublayers: bool = True,
    prefix: str = "",
    *,
    use_hook: bool = True,
    every_buffer: bool = False,
) -> dict[str, Any]:
    """Parameters and buffers by structured name: the live Tensors, not copies.

    Buffers that are not persistable come along only with ``every_buffer``.
    """
    destination = OrderedDict() if destination is None else destination
    for name, parameter in layer._parameters.items():
        if parameter is not None:
            destination[prefix + name] = parameter
    for name, buffer in layer._buffers.items():
        if buffer is not None and (every_buffer or name not in layer._non_persistable_buffer_names_set):
            destination[prefix + name] = buffer
    if include_sublayers:
        for name, sublayer in layer._sub_layers.items():
            if sublayer is not None:
                destination = collect(
                    sublayer,
                    destination,
                    True,
                    f"{prefix}{name}.",
                    use_hook=use_hook,
                    every_buffer=every_buffer,
                )
    if use_hook:
        for hook in layer._state_dict_hooks.values():
            result = hook(destination)
            destination = destination if result is None else result
    return destination


@delegate("engine.nn.layer.base.torch_names")
def assign_torch(layer: LayerTree, state: TorchState, use_structured_name: bool) -> StateReport:
    """``assign`` from a state dict of PyTorch, by the classes of layers."""
    raise NotImplementedError


def assign(
    layer: LayerTree, state: Mapping[str, Any], use_structured_name: bool = True, level: int = 3
) -> tuple[list[str], list[str]]:
    """Set parameters and persistable buffers from ``state``; returns the missing and the unexpected keys.

    What does not fit (absent, another shape) is left as it is, with a warning. Raises DTypeError if ``state``
    is not a dict of Tensors and arrays.

    A :class:`TorchState` is translated first, and a :class:`StateReport` returned.
    """
    if isinstance(state, TorchState):
        return assign_torch(layer, state, use_structured_name)
    if not isinstance(state, Mapping):
        raise DTypeError(
            f"set_state_dict: takes a dict of name to Tensor: got {type(state).__name__}; pass load(path) or "
            "another layer's state_dict()"
        )
    missing: list[str] = []
    matched: set[str] = set()
    for name, target in collect(layer, use_hook=False).items():
        key = name if use_structured_name else target.name
        value = state.get(key)
        if value is None:
            problem = f"{key} is not found in the provided dict."
        elif not hasattr(value, "shape"):
            raise DTypeError(
                f"set_state_dict: {key} is of type {type(value).__name__}: values are Tensors and arrays; "
                "convert it"
            )
        elif list(value.shape) != list(target.shape):
            problem = (
                f"{key} receives a shape {list(value.shape)}, but the expected shape is {list(target.shape)}."
            )
        else:
            target.set_value(value)
            matched.add(key)
            continue
        missing.append(key)
        warnings.warn(f"Skip loading for {name}. {problem}", stacklevel=level)
    return missing, [key for key in state if key not in matched]
