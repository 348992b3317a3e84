"""Equality and membership, where Python would ask a Tensor for its truth; the shape of a Tensor as a list."""

from __future__ import annotations

from typing import Any

from engine.jit.convert import backend
from engine.jit.convert.runtime.sequences import is_built
from engine.jit.convert.runtime.state import refuse, user_place

SEQUENCES = (list, tuple)


def shape(value: Any) -> Any:
    """`value.shape`, of a symbolic Tensor as a list, as it is in eager mode."""
    dims = value.shape
    return list(dims) if backend.get().is_symbolic(value) else dims


def equal(left: object, right: object) -> Any:
    """`left == right`; lists and tuples element by element where one of them is known to the Program only."""
    tools = backend.get()
    if isinstance(left, SEQUENCES) and isinstance(right, SEQUENCES):
        return _equal_items(left, right) if _has_undecided(left, right) else left == right
    return tools.asked(left) == tools.asked(right)


def unequal(left: object, right: object) -> Any:
    """`left != right`."""
    tools = backend.get()
    if isinstance(left, SEQUENCES) and isinstance(right, SEQUENCES):
        return _negated(equal(left, right)) if _has_undecided(left, right) else left != right
    return tools.asked(left) != tools.asked(right)


def holds(value: object, container: Any) -> Any:
    """`value in container`."""
    tools = backend.get()
    value = tools.asked(value)
    if is_built(container) or (tools.is_undecided(container) and tools.is_tensor(container)):
        found = tools.holds(container, value)
        if found is None:
            refuse(
                user_place(),
                "`in` asks whether a value is in what a Tensor decides the length of",
                type(container).__name__,
                "compare and use any()",
            )
        return found
    if not isinstance(container, list | tuple | range) or not _has_undecided([value], container):
        return value in container
    result: Any = False
    for item in container:
        if item is value:
            return True
        same = equal(item, value)
        if tools.is_undecided(same) or tools.is_undecided(result):
            result = tools.logical_or(result, same)
        elif same:
            return True
    return result


def lacks(value: object, container: Any) -> Any:
    """`value not in container`."""
    return _negated(holds(value, container))


def _negated(value: Any) -> Any:
    return backend.get().logical_not(value) if backend.get().is_undecided(value) else not value


def _has_undecided(*groups: Any) -> bool:
    tools = backend.get()
    for group in groups:
        if isinstance(group, range):
            continue
        for item in group:
            if isinstance(item, SEQUENCES):
                if _has_undecided(item):
                    return True
            elif tools.is_undecided(item):
                return True
    return False


def _equal_items(left: Any, right: Any) -> Any:
    if isinstance(left, list) is not isinstance(right, list) or len(left) != len(right):
        return False
    tools = backend.get()
    result: Any = True
    for one, other in zip(left, right, strict=True):
        same = True if one is other else equal(one, other)
        if tools.is_undecided(same) or tools.is_undecided(result):
            result = tools.logical_and(result, same)
        elif not same:
            return False
    return result
