"""Elements of lists at a place that only the running Program knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.jit.convert import backend
from engine.jit.convert.runtime_control import convert_ifexp
from engine.jit.convert.runtime_merge import describe
from engine.jit.convert.runtime_state import refuse, user_place


def item(container: Any, index: Any) -> Any:
    """`container[index]`; of a list it may be at a symbolic place, if its elements have one structure."""
    if not isinstance(container, list | tuple) or not backend.get().is_symbolic(index):
        return container[index]
    array = backend.get().array(list(container), container[0]) if container else "it is empty"
    if isinstance(array, str):
        refuse(
            user_place(),
            f"an element of {describe(container)} at a place that a Tensor says",
            array,
            "keep Tensors of one shape and dtype in it, or index it with a Python number",
        )
    return array[index]


def put(container: Any, index: Any, value: Any) -> None:
    """`container[index] = value`; in a list it may be at a symbolic place."""
    tools = backend.get()
    if not isinstance(container, list) or not tools.is_symbolic(index):
        container[index] = value
        return
    size = len(container)
    tools.check(
        tools.logical_and(index >= -size, index < size), f"{user_place()}: list assignment index out of range"
    )
    for place, before in enumerate(container):
        chosen = tools.logical_or(index == place, index == place - size)
        container[place] = convert_ifexp(chosen, _giving(value), _giving(before))


def _giving(value: Any) -> Callable[[], Any]:
    return lambda: value
