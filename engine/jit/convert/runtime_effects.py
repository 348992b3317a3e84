"""Changes that a branch or loop makes to lists, dicts, sets and attributes of the objects it can see.

Both sides of a symbolic branch are run while the Program is built, so what one does to a list must not be
seen by the other. The contents are put back after each side and joined at the end, as variables are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from engine.jit.convert import backend
from engine.jit.convert.runtime_merge import Build, Pairs, describe
from engine.jit.convert.runtime_state import Place, Undefined, refuse

CONTAINERS = (list, dict, set)
# What calling a Layer stores in it: not the user's state.
OWN = frozenset({"_built", "_static_functions", "forward"})
OPAQUE = (type, ModuleType, FunctionType, np.ndarray, np.generic)


class Watched:
    """One container, with the name that the user knows it by; the engine's own attributes don't count."""

    def __init__(self, name: str, container: Any, own: frozenset[str] = frozenset()) -> None:
        self.name = name
        self.container = container
        self.own = own
        self.before = self.contents()

    def contents(self) -> Any:
        """A copy of what the container holds now."""
        if not self.own:
            return self.container.copy()
        return {key: value for key, value in self.container.items() if key not in self.own}

    def changed(self) -> bool:
        """Whether the contents are not those from before."""
        return not _same(self.contents(), self.before)

    def put(self, contents: Any) -> None:
        """Make the contents these, in the same container."""
        if isinstance(self.container, list):
            self.container[:] = contents
            return
        kept = {key: self.container[key] for key in self.own if key in self.container}
        self.container.clear()
        self.container.update(contents)
        if kept:
            self.container.update(kept)


class Effects:
    """The containers that functions can reach through their variables: the variables' own, and attributes of
    objects.
    """

    def __init__(self, place: Place, *functions: Callable[..., Any] | None) -> None:
        self.place = place
        self.watched: list[Watched] = []
        self.builds: list[tuple[Watched, Build]] = []
        seen: set[int] = set()
        for function in functions:
            helper = function.func if isinstance(function, functools.partial) else function
            if helper is None:
                continue
            helper = cast(FunctionType, helper)
            for name, cell in zip(helper.__code__.co_freevars, helper.__closure__ or (), strict=True):
                try:
                    self._watch(name, cell.cell_contents, seen)
                except ValueError:
                    continue

    def _watch(self, name: str, value: Any, seen: set[int]) -> None:
        if id(value) in seen or isinstance(value, Undefined):
            return
        seen.add(id(value))
        if isinstance(value, CONTAINERS):
            self.watched.append(Watched(name, value))
            for key, item in _items(value):
                if isinstance(item, CONTAINERS):
                    self._watch(f"{name}[{key!r}]", item, seen)
            return
        attributes = getattr(value, "__dict__", None) if not isinstance(value, OPAQUE) else None
        if type(attributes) is dict and not backend.get().is_tensor(value):
            self.watched.append(Watched(name, attributes, OWN))
            for key, item in list(attributes.items()):
                if isinstance(item, CONTAINERS) and not key.startswith("_"):
                    self._watch(f"{name}.{key}", item, seen)

    def take(self) -> list[Any]:
        """The contents of all containers, which are put back to what they were before."""
        contents = []
        for watched in self.watched:
            if watched.changed():
                contents.append(watched.contents())
                watched.put(watched.before)
            else:
                contents.append(watched.before)
        return contents

    def join(self, pairs: Pairs, first: Sequence[Any], second: Sequence[Any]) -> None:
        """Join what two sides made of the containers; raises ConversionError where that is not possible."""
        for watched, one, other in zip(self.watched, first, second, strict=True):
            if not (_same(one, watched.before) and _same(other, watched.before)):
                self.builds.append((watched, pairs.join(watched.name, one, other)))

    def finish(self, leaves: Sequence[Any]) -> None:
        """Store the joined contents."""
        for watched, build in self.builds:
            watched.put(build(leaves))

    def refuse_changes(self) -> None:
        """Raise ConversionError if a container changed, for a loop that is built once and runs any number of
        times.
        """
        for watched in self.watched:
            if watched.changed():
                now = describe(watched.container)
                before = describe(watched.before)
                watched.put(watched.before)
                refuse(
                    self.place,
                    f"`{watched.name}` is changed in place inside a loop whose length a Tensor decides",
                    f"{before} before, {now} after one iteration",
                    "keep the values in Tensors made before the loop, or loop over a Python range",
                )


def _items(container: Any) -> list[tuple[Any, Any]]:
    if isinstance(container, dict):
        return list(container.items())
    return list(enumerate(container)) if isinstance(container, list) else []


def _same(first: Any, second: Any) -> bool:
    """Whether two containers hold the very same objects in the same places."""
    if len(first) != len(second):
        return False
    if isinstance(first, dict):
        return all(key in second and second[key] is value for key, value in first.items())
    if isinstance(first, set):
        return bool(first == second)
    return all(one is other for one, other in zip(first, second, strict=True))
