"""Elements of lists at a place that only the running Program knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.jit.convert import backend
from engine.jit.convert.runtime.control import convert_ifexp
from engine.jit.convert.runtime.merge import describe
from engine.jit.convert.runtime.sequences import element
from engine.jit.convert.runtime.state import refuse, user_place


def item(container: Any, index: Any) -> Any:
    """`container[index]`; of a list it may be at a symbolic place, if its elements have one structure."""
    tools = backend.get()
    if not isinstance(container, list | tuple):
        if isinstance(container, dict):
            _require_key(container, index)
        return container[index]
    if isinstance(index, slice):
        return _part(container, index)
    index = tools.asked(index)
    return element(container, index) if tools.is_symbolic(index) else container[index]


def _require_key(container: dict[Any, Any], key: Any) -> None:
    """Refuse a number as a key that only the running Program knows."""
    tools = backend.get()
    if tools.is_undecided(key) and (tools.asked(key) is not key or tools.number_of(key) is not None):
        refuse(
            user_place(),
            "a dict is asked for a key that is known only when the Program runs",
            describe(container),
            "use a Tensor with an index, or fix the dimension in the InputSpec",
        )


def _part(container: Any, bounds: slice) -> Any:
    """A slice; where a Tensor says its bounds, as a tensor array."""
    tools = backend.get()
    asked = slice(*(tools.asked(bound) for bound in (bounds.start, bounds.stop, bounds.step)))
    if not backend.any_symbolic((asked.start, asked.stop, asked.step)):
        return container[bounds]
    return as_array(list(container), "a part of a list that a Tensor says")[asked]


def as_array(items: list[Any], what: str) -> Any:
    """The list as a tensor array. Raises ConversionError where its elements have no common structure."""
    array = backend.get().array(items, items[0]) if items else "it is empty"
    if isinstance(array, str):
        refuse(
            user_place(),
            f"{what}: {describe(items)}",
            array,
            "keep Tensors of one shape and dtype in it, or use Python numbers",
        )
    return array


def unpacked(value: Any, count: int) -> Any:
    """What `a, b = value` takes apart; of a symbolic value as many rows as there are targets."""
    tools = backend.get()
    if not tools.is_symbolic(value) or isinstance(length := tools.length(value), int):
        return value
    tools.check(length == count, f"{user_place()}: {count} values are unpacked from a Tensor of other length")
    return [value[n] for n in range(count)]


def put(container: Any, index: Any, value: object) -> None:
    """`container[index] = value`; in a list it may be at a symbolic place."""
    tools = backend.get()
    if isinstance(container, dict):
        _require_key(container, index)
    index = tools.asked(index)
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
