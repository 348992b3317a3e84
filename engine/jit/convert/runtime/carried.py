"""What a loop carries from one iteration to the next: the values of its variables and of the containers that
its body changes, taken apart into Tensors and numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.jit.convert import backend
from engine.jit.convert.runtime.growing import Grown, Rebuild
from engine.jit.convert.runtime.merge import (
    PLAIN,
    Build,
    Pairs,
    describe,
    is_leaf,
    is_number,
    keep,
    leaf,
    mapping,
    sequence,
    subject,
)
from engine.jit.convert.runtime.state import NO_VALUE, NoValue, Place, Undefined, refuse


class CarriedSlot(Protocol):
    """A variable, or the contents of a container."""

    name: str

    def get(self) -> Any: ...

    def set(self, value: Any) -> None: ...


@dataclass
class Learnt:
    """What showed only when the loop's body was built, by the path of a value.

    `floats` are integers that become floats, `likes` the Tensors that numbers become, `by_value` tensor
    arrays that the body replaces by others.
    """

    floats: set[str] = field(default_factory=set)
    likes: dict[str, Any] = field(default_factory=dict)
    by_value: set[str] = field(default_factory=set)


class Carried:
    """The values at the loop's beginning as leaves, and how the slots' values are made of leaves.

    What `learnt` says of them is added to, and the loop is built again. `born` are the names that have no
    value before the loop.
    """

    def __init__(self, place: Place, slots: Sequence[CarriedSlot], learnt: Learnt) -> None:
        self.place = place
        self.slots = list(slots)
        self.learnt = learnt
        self.born: list[str] = []
        self._start(self.last())

    def last(self) -> list[Any]:
        """The slots' values now."""
        return [slot.get() for slot in self.slots]

    def _start(self, values: list[Any]) -> None:
        self.first = values
        self.leaves: list[Any] = []
        self.builds: list[Build] = [
            self._apart(subject(slot.name), value) for slot, value in zip(self.slots, values, strict=True)
        ]

    def _apart(self, path: str, value: Any) -> Build:
        if is_leaf(value):
            index = len(self.leaves)
            if path in self.learnt.likes:
                value = backend.get().filled(value, self.learnt.likes[path])
            if type(value) is int and path in self.learnt.floats:
                value = float(value)
            self.leaves.append(value)
            return leaf(index, value)
        if backend.get().is_array(value):
            if path not in self.learnt.by_value:
                return keep(value)
            parts = [self._apart(f"{path} {n}", part) for n, part in enumerate(value.leaves())]
            return lambda leaves: value.with_leaves([part(leaves) for part in parts])
        if isinstance(value, list | tuple):
            return sequence(value, [self._apart(f"{path}[{n}]", item) for n, item in enumerate(value)])
        if isinstance(value, dict):
            return mapping(value, [self._apart(f"{path}[{key!r}]", item) for key, item in value.items()])
        return keep(value)

    def values(self, leaves: list[Any]) -> list[Any]:
        """The slots' values for these leaves."""
        return [build(leaves) for build in self.builds]

    def incomplete(self) -> bool:
        """Whether a variable, or the value of a `return` in the loop, has no value yet."""
        return any(isinstance(value, NoValue | Undefined) for value in self.first)

    def keys_grew(self) -> bool:
        """Whether a dict has keys that it had not at the loop's beginning."""
        return any(
            isinstance(first, dict) and isinstance(last, dict) and not last.keys() <= first.keys()
            for first, last in zip(self.first, self.last(), strict=True)
        )

    def fill(self, after: list[Any]) -> None:
        """Give what has no value before the loop a start of the structure that one iteration gives it."""
        values = []
        for slot, first, last in zip(self.slots, self.first, after, strict=True):
            name = slot.name
            if isinstance(first, NoValue) and not isinstance(last, NoValue):
                first = self._start_of(name, last)
            elif isinstance(first, Undefined) and isinstance(last, Undefined):
                first = last  # it knows why
            elif isinstance(first, Undefined):
                self.born.append(subject(name))
                first = self._start_of(name, last)
            elif isinstance(first, dict) and isinstance(last, dict):
                for key in last.keys() - first.keys():
                    self.born.append(f"`{name}[{key!r}]`")
                    first = {**first, key: self._start_of(f"{name}[{key!r}]", last[key])}
            values.append(first)
        self._start(values)

    def _start_of(self, name: str, last: Any) -> Any:
        pairs = Pairs(self.place, "before the loop", "after one iteration", [], [])
        return pairs.join(name, NO_VALUE, last)(pairs.first)

    def after(self) -> list[Any]:
        """The leaves at the end of the body.

        Raises ConversionError where a slot's structure changed, Rebuild where the loop has to begin with
        other leaves.
        """
        leaves: list[Any] = []
        self._rebuild = False
        for slot, first, last in zip(self.slots, self.first, self.last(), strict=True):
            self._match(slot.name, subject(slot.name), first, last, leaves)
        if self._rebuild:
            raise Rebuild
        return leaves

    def _takes_dimensions(self, first: Any, last: Any) -> bool:
        tools = backend.get()
        if not tools.is_tensor(last) or not tools.rank(last):
            return False
        return not isinstance(first, float) or tools.is_floating(last)

    def _learn(self, path: str, first: Any, last: Any) -> None:
        """Note where a number has to begin as a float or with the dimensions that an iteration gives it."""
        tools = backend.get()
        becomes_float = isinstance(last, float) or (tools.is_tensor(last) and tools.is_floating(last))
        if type(first) is int and path not in self.learnt.floats and becomes_float:
            self.learnt.floats.add(path)  # as in Python, an integer becomes a float by arithmetic
            self._rebuild = True
        if is_number(first) and path not in self.learnt.likes and self._takes_dimensions(first, last):
            self.learnt.likes[path] = last  # `total = 0` before, a sum of rows after
            self._rebuild = True

    def _match(self, name: str, path: str, first: Any, last: Any, leaves: list[Any]) -> None:
        tools = backend.get()
        if is_leaf(first) and is_leaf(last):
            self._learn(path, first, last)
            # A float that becomes an integer stays a float: to eager code the numbers are equal.
            leaves.append(float(last) if isinstance(first, float) and type(last) is int else last)
        elif tools.is_array(first) and tools.is_array(last):
            if path in self.learnt.by_value:
                for n, pair in enumerate(zip(first.leaves(), last.leaves(), strict=True)):
                    self._match(name, f"{path} {n}", *pair, leaves)
            elif first is not last:
                self.learnt.by_value.add(path)
                self._rebuild = True
        elif isinstance(first, list | tuple) and type(first) is type(last) and len(first) == len(last):
            for position, (one, other) in enumerate(zip(first, last, strict=True)):
                self._match(name, f"{path}[{position}]", one, other, leaves)
        elif isinstance(first, list) and (isinstance(last, list) or tools.is_array(last)):
            raise Grown(name, first, first, last)
        elif isinstance(first, dict) and type(first) is type(last) and first.keys() == last.keys():
            for key in first:
                self._match(name, f"{path}[{key!r}]", first[key], last[key], leaves)
        elif not _is_unchanged(first, last):
            refuse(
                self.place,
                f"{path} changes its kind inside a loop whose length a Tensor decides",
                f"{describe(first)} before, {describe(last)} after one iteration",
                "keep it a Tensor or number of one structure, or loop over a Python range",
            )


def _is_unchanged(first: Any, last: Any) -> bool:
    """Whether an iteration leaves a value that no Tensor holds as it was."""
    return (
        first is last
        or (isinstance(first, Undefined) and isinstance(last, Undefined))
        or (isinstance(first, PLAIN) and type(first) is type(last) and bool(first == last))
    )
