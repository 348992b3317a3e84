"""Python values of two paths made one: what is equal stays a Python value, Tensors and numbers that differ
become leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.jit.convert import backend
from engine.jit.convert.runtime import attempt
from engine.jit.convert.runtime.state import NoValue, Partly, Place, Undefined, refuse

Build = Callable[[Sequence[Any]], Any]
PLAIN = (str, bytes, type(None), type(Ellipsis), slice, frozenset)


def is_number(value: object) -> bool:
    """Whether the value is a Python or NumPy scalar, which can become a Tensor."""
    return isinstance(value, bool | int | float | np.generic) and not isinstance(value, np.str_ | np.bytes_)


def is_leaf(value: object) -> bool:
    """Whether the value is a Tensor or a number."""
    return is_number(value) or backend.get().is_tensor(value)


def decided(value: object) -> Any:
    """What a condition asks of a value: a dimension for its number, a tensor array for its length."""
    tools = backend.get()
    return tools.length(value) > 0 if tools.is_array(value) else tools.asked(value)


def describe(value: object) -> str:
    """A value in an error message."""
    if backend.get().is_tensor(value):
        return "a Tensor"
    if isinstance(value, Undefined):
        return "no value"
    if isinstance(value, list | tuple | dict | set):
        return f"a {type(value).__name__} of {len(value)}"
    if backend.get().is_array(value):
        return "a tensor array"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


RETURNED = "the returned value"


def _count(value: object) -> int:
    return len(value) if isinstance(value, list | tuple | dict) else 1


def subject(name: str) -> str:
    """A variable in an error message; the variables that stand for `return` are named as such."""
    return RETURNED if name.startswith("return_value_") else f"`{name}`"


@dataclass
class Pairs:
    """Collects the leaves in which two paths differ, while `join` walks through their values side by side."""

    place: Place
    first_path: str
    second_path: str
    first: list[Any]
    second: list[Any]

    def join(self, name: str, first: object, second: object) -> Build:
        """What makes the joined value from the leaves' joined values. Raises ConversionError where there is
        none.
        """
        return self._join(subject(name), name, first, second)

    def _join(self, path: str, name: str, first: Any, second: Any) -> Build:
        if first is second:
            return keep(first)
        first, second = backend.get().asked(first), backend.get().asked(second)
        if isinstance(first, NoValue):
            return self._fill(path, second, self.first, self.second)
        if isinstance(second, NoValue):
            return self._fill(path, first, self.second, self.first)
        if isinstance(first, Undefined) or isinstance(second, Undefined):
            return self._one_sided(path, name, first, second)
        if is_leaf(first) and is_leaf(second):
            if type(first) is type(second) and is_number(first) and (first == second or first != first):
                return keep(first)
            return self._leaf(first, second)
        if backend.get().is_array(first) and backend.get().is_array(second):
            parts = [
                self._join(path, name, *pair) for pair in zip(first.leaves(), second.leaves(), strict=True)
            ]
            return lambda leaves: first.with_leaves([part(leaves) for part in parts])
        if type(first) is type(second):
            if isinstance(first, list | tuple) and len(first) == len(second):
                items = [
                    self._join(f"{path}[{i}]", name, *pair)
                    for i, pair in enumerate(zip(first, second, strict=True))
                ]
                return sequence(first, items)
            if isinstance(first, dict) and first.keys() == second.keys():
                return mapping(
                    first, [self._join(f"{path}[{key!r}]", name, first[key], second[key]) for key in first]
                )
            if isinstance(first, PLAIN) and first == second:
                return keep(first)
        what = f"{path} is of a different kind on two paths that a Tensor decides between"
        if path.startswith(RETURNED) and _count(first) != _count(second):
            what += " (Your if/else have different number of return value.)"  # Paddle's words
        refuse(
            self.place,
            what,
            f"{describe(first)} {self.first_path}, {describe(second)} {self.second_path}",
            "give it Tensors or numbers of one structure on both paths, or make the condition a Python value",
        )

    def _leaf(self, first: Any, second: Any) -> Build:
        index = len(self.first)
        self.first.append(first)
        self.second.append(second)
        tools = backend.get()
        one, another = tools.number_of(first), tools.number_of(second)
        if one is not None and another is not None:
            kind = one if type(one) is type(another) else one + another
            return lambda leaves: tools.as_number(leaves[index], kind)
        for number, other in ((first, second), (second, first)):
            if attempt.current() is not None and is_number(number) and tools.rank(other):
                refuse(
                    self.place,
                    "a number on one path is a Tensor with dimensions on the other, and a Tensor decides",
                    f"{describe(first)} {self.first_path}, {describe(second)} {self.second_path}",
                    "use full_like for the number",
                )
        return lambda leaves: leaves[index]

    def _fill(self, path: str, value: Any, missing: list[Any], present: list[Any]) -> Build:
        """The value of one path where the other has none that anyone reads."""
        if is_leaf(value):
            index = len(present)
            missing.append(self.placeholder(path, value))
            present.append(value)
            return leaf(index, value)
        if isinstance(value, list | tuple):
            return sequence(
                value, [self._fill(f"{path}[{i}]", item, missing, present) for i, item in enumerate(value)]
            )
        if isinstance(value, dict):
            filled = [self._fill(f"{path}[{key!r}]", item, missing, present) for key, item in value.items()]
            return mapping(value, filled)
        return keep(value)

    def placeholder(self, path: str, value: Any) -> Any:
        """A leaf like `value` for a path on which nothing reads it; raises ConversionError where its shape is
        unknown.
        """
        if is_number(value):
            return type(value)(0)
        made = backend.get().placeholder(value)
        if made is None:
            refuse(
                self.place,
                f"{path} comes from a `return` in a loop that a Tensor decides, and its shape is not known",
                describe(value),
                "assign the result to a variable that has a value before, and return that at the end",
            )
        return made

    def _one_sided(self, path: str, name: str, first: Any, second: Any) -> Build:
        """A value that not every path binds: who reads it asks the running Program whether there is one."""
        undefined = self._undefined(name, first, second)
        (one, has_one), (other, has_other) = _split(first), _split(second)
        if isinstance(one, Undefined) and isinstance(other, Undefined):
            return keep(undefined)
        if isinstance(one, Undefined):
            value = self._fill(path, other, self.first, self.second)
        elif isinstance(other, Undefined):
            value = self._fill(path, one, self.second, self.first)
        else:
            value = self._join(path, name, one, other)
        bound = self._leaf(has_one, has_other)
        return lambda leaves: Partly(undefined, value(leaves), bound(leaves))

    def _undefined(self, name: str, first: Any, second: Any) -> Undefined:
        known = [v for v in (first, second) if isinstance(v, Undefined) and v._reason]
        if known or (isinstance(first, Undefined) and isinstance(second, Undefined)):
            return known[0] if known else second
        bound, other = (
            (self.first_path, self.second_path)
            if isinstance(second, Undefined)
            else (self.second_path, self.first_path)
        )
        return Undefined(
            name, f"at {self.place} it gets a value {bound} but not {other}; assign it on both paths"
        )


def _split(value: Any) -> tuple[Any, Any]:
    """A value, and whether it has one."""
    if isinstance(value, Partly):
        return value._value, value._bound
    return value, not isinstance(value, Undefined)


def leaf(index: int, like: object) -> Build:
    """Gives the leaf at an index; a number where the value before it is one to eager code."""
    tools = backend.get()
    number = tools.number_of(like)
    if number is None:
        return lambda leaves: leaves[index]
    kind = number
    return lambda leaves: tools.as_number(leaves[index], kind)


def keep(value: object) -> Build:
    """Gives the value itself, whatever the leaves are."""
    return lambda _leaves: value


def sequence(like: list[Any] | tuple[Any, ...], items: list[Build]) -> Build:
    """Gives a list or tuple of the kind of `like`."""

    def build(leaves: Sequence[Any]) -> Any:
        values = [item(leaves) for item in items]
        if isinstance(like, tuple) and hasattr(like, "_make"):
            return like._make(values)
        return values if type(like) is list else type(like)(values)

    return build


def mapping(like: dict[Any, Any], items: list[Build]) -> Build:
    """Gives a dict of the kind of `like`, with its keys."""
    keys = list(like)

    def build(leaves: Sequence[Any]) -> Any:
        values = zip(keys, (item(leaves) for item in items), strict=True)
        return dict(values) if type(like) is dict else type(like)(values)

    return build
