"""Handles of the hooks that a Layer calls before and after its forward, and on its state dict."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

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
