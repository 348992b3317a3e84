"""Changes that a branch or loop makes to lists, dicts, sets and attributes of the objects it can see.

Both sides of a symbolic branch are run while the Program is built, so what one does to a list must not be
seen by the other. The contents are put back after each side and joined at the end, as variables are. A loop
carries what its body changes through, as it does with variables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import CellType, FunctionType, ModuleType
from typing import Any, TypeAlias, cast

import numpy as np

from engine.jit.convert import backend
from engine.jit.convert.runtime.growing import Grown
from engine.jit.convert.runtime.merge import Build, Pairs
from engine.jit.convert.runtime.state import Place, Undefined

CONTAINERS = (list, dict, set)
Container: TypeAlias = list[Any] | dict[Any, Any] | set[Any]
# What calling a Layer stores in it: not the user's state.
OWN = frozenset({"_built", "_static_functions"})
OPAQUE = (type, ModuleType, FunctionType, np.ndarray, np.generic)
Put = Callable[[Any], None]


class Watched:
    """One container, with the name that the user knows it by; the engine's own attributes don't count.

    `homes` put another object where the container was found.
    """

    def __init__(self, name: str, container: Container, own: frozenset[str] = frozenset()) -> None:
        self.name = name
        self.container: Any = container
        self.own = own
        self.homes: list[Put] = []
        # The tensor array that has these attributes, if it does not know yet what its elements are.
        self.begins: Any = None
        self.before = self.contents()

    def contents(self) -> Any:
        """A copy of what the container holds now."""
        if not self.own:
            return self.container.copy()
        return {key: value for key, value in self.container.items() if key not in self.own}

    def changed(self) -> bool:
        """Whether the contents are not those from before."""
        return not _same(self.contents(), self.before)

    def put(self, contents: Container) -> None:
        """Make the contents these, in the same container."""
        if isinstance(self.container, list):
            self.container[:] = contents
            return
        own_items = {key: self.container[key] for key in self.own if key in self.container}
        self.container.clear()
        self.container.update(contents)
        if own_items:
            self.container.update(own_items)

    # A container that a loop carries through is one of its variables.
    get = contents
    set = put


class Side:
    """What runs in place of a function of the user's, and reaches what that can reach."""

    def __init__(self, func: Callable[..., Any], run: Callable[[], None]) -> None:
        self.func = func
        self._run = run

    def __call__(self) -> None:
        self._run()


class Effects:
    """The containers that functions can reach through their variables: the variables' own, and attributes of
    objects.
    """

    def __init__(self, place: Place, *functions: Callable[..., Any] | None) -> None:
        self.place = place
        self.watched: list[Watched] = []
        self.builds: list[tuple[Watched, Build]] = []
        self._seen: dict[int, Watched | None] = {}
        for function in functions:
            if function is None:
                continue
            helper: Any = function
            while isinstance(helper, functools.partial | Side):
                helper = helper.func
            helper = cast(FunctionType, helper)
            for name, cell in zip(helper.__code__.co_freevars, helper.__closure__ or (), strict=True):
                try:
                    self._watch(name, cell.cell_contents, _into_cell(cell))
                except ValueError:
                    continue

    def _watch(self, name: str, value: Any, home: Put) -> None:
        if id(value) in self._seen:
            known = self._seen[id(value)]
            if known is not None:
                known.homes.append(home)
            return
        self._seen[id(value)] = None
        if isinstance(value, Undefined):
            return
        if isinstance(value, CONTAINERS):
            watched = Watched(name, value)
            watched.homes.append(home)
            self._seen[id(value)] = watched
            self.watched.append(watched)
            for key, item in _items(value):
                if isinstance(item, CONTAINERS) or backend.get().is_array(item):
                    self._watch(f"{name}[{key!r}]", item, _into_item(value, key))
            return
        attributes = getattr(value, "__dict__", None) if not isinstance(value, OPAQUE) else None
        if type(attributes) is dict and not backend.get().is_tensor(value):
            watched = Watched(name, attributes, OWN)
            self.watched.append(watched)
            if backend.get().is_array(value) and not value.leaves():
                watched.begins = value
                self._seen[id(value)] = watched
            for key, item in list(attributes.items()):
                own = key.startswith("_")
                if (isinstance(item, CONTAINERS) and not own) or backend.get().is_array(item):
                    self._watch(f"{name}.{key}", item, _into_item(attributes, key))

    def knows(self, container: object) -> bool:
        """Whether the container was there when the construct began."""
        return self._seen.get(id(container)) is not None

    def replace(self, container: object, other: object) -> None:
        """Put another object in place of a container, wherever it was found."""
        watched = self._seen[id(container)]
        assert watched is not None
        for home in watched.homes:
            home(other)

    def put_back(self) -> None:
        """Undo all changes."""
        for watched in self.watched:
            if watched.changed():
                watched.put(watched.before)

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
        """Join what two sides made of the containers; raises ConversionError where that is not possible, and
        Grown for a list whose length differs.
        """
        for watched, one, other in zip(self.watched, first, second, strict=True):
            if not (_same(one, watched.before) and _same(other, watched.before)):
                if isinstance(watched.container, list) and len(one) != len(other):
                    longer = one if len(one) > len(other) else other
                    raise Grown(watched.name, watched.container, watched.before, longer)
                self._note_begin(watched, other if _same(one, watched.before) else one)
                self.builds.append((watched, pairs.join(watched.name, one, other)))

    def finish(self, leaves: Sequence[Any]) -> None:
        """Store the joined contents."""
        for watched, build in self.builds:
            watched.put(build(leaves))

    def changed(self) -> list[Watched]:
        """The containers whose contents are not those from before; raises Grown for a list that grew."""
        found = [watched for watched in self.watched if watched.changed()]
        for watched in found:
            contents = watched.contents()
            if isinstance(watched.container, list) and len(contents) != len(watched.before):
                raise Grown(watched.name, watched.container, watched.before, contents)
            self._note_begin(watched, contents)
        return found

    def _note_begin(self, watched: Watched, contents: Any) -> None:
        """Raise Grown for a tensor array that got its first element: from now on it knows what it holds."""
        if watched.begins is not None:
            watched.put(contents)
            grown = Grown(watched.name, watched.begins, [], watched.begins)
            watched.put(watched.before)
            raise grown


def _into_cell(cell: CellType) -> Put:
    def put(value: Any) -> None:
        cell.cell_contents = value

    return put


def _into_item(container: Any, key: Any) -> Put:
    def put(value: Any) -> None:
        container[key] = value

    return put


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
