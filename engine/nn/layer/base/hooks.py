"""The hooks that a Layer calls before and after its forward, and on its state dict."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

_ids = itertools.count()


class Hooks(OrderedDict[int, Callable[..., Any]]):
    """Hooks in the order in which they were registered."""

    def register(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        helper = HookRemoveHelper(self)
        self[helper._hook_id] = hook
        return helper


class HookRemoveHelper:
    """Removes the hook it was returned for; removing twice does nothing."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks_ref = weakref.ref(hooks)
        self._hook_id = next(_ids)

    def remove(self) -> None:
        hooks = self._hooks_ref()
        if hooks is not None:
            hooks.pop(self._hook_id, None)


class Called(Protocol):
    """What a call uses of a Layer, whose class stands above this folder."""

    _forward_pre_hooks: Hooks
    _forward_post_hooks: Hooks
    _built: bool
    _around: Callable[..., Any] | None

    def _build_once(self, *inputs: Any, **kwargs: Any) -> None:
        """Called before the first forward."""


def call_around(
    layer: Called,
    forward: Callable[..., Any],
    inputs: tuple[Any, ...],
    kwargs: dict[str, Any],
    converted: Callable[[Any], Any] | None = None,
) -> Any:
    """What a call of ``layer`` gives when ``forward`` runs between its hooks.

    Code that is traced gives its converted ``forward`` and what converts a hook: nothing is changed in the
    Layer, which other threads may be using.
    """

    def form(hook: Any) -> Any:
        return hook if converted is None else converted(hook)

    for hook in tuple(layer._forward_pre_hooks.values()):
        result = form(hook)(layer, inputs)
        if result is not None:
            inputs = result if isinstance(result, tuple) else (result,)
    if not layer._built:
        layer._build_once(*inputs, **kwargs)
        layer.__dict__["_built"] = True
    around = layer._around
    outputs = forward(*inputs, **kwargs) if around is None else around(forward, *inputs, **kwargs)
    for hook in tuple(layer._forward_post_hooks.values()):
        result = form(hook)(layer, inputs, outputs)
        outputs = outputs if result is None else result
    return outputs
