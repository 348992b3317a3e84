"""Lists that a branch or loop makes longer or shorter by a number that only the running Program knows.

Such a list becomes a tensor array, in every variable, list, dict and attribute that the construct can see it
by; then the construct is built again. Where constructs nest, the outermost one that saw the list before it
was changed does this, so that all of them build over the same array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from engine.jit.convert import backend
from engine.jit.convert.runtime.merge import describe
from engine.jit.convert.runtime.state import Place, Undefined, refuse

Knows = Callable[[Any], bool]


class Rebuild(Exception):
    """What was built is thrown away, and the branch or loop is built again with what was learnt by it."""


class Grown(Rebuild):
    """The list `items`, which held `before`, has another length after a side of a branch or an iteration.

    `changed` is what it is then: a list, or already a tensor array. `items` may be a tensor array too, one
    that had no element and so did not know what it holds.
    """

    def __init__(self, name: str, items: Any, before: list[Any], changed: Any) -> None:
        super().__init__(name)
        self.name = name
        self.items = items
        self.changed = changed
        if not isinstance(changed, list):
            self.like = changed[-1]
        else:
            longer, shorter = (changed, before) if len(changed) > len(before) else (before, changed)
            self.like = longer[min(len(shorter), len(longer) - 1)]


_guesses: ContextVar[bool] = ContextVar("kinds_are_guessed", default=False)
# What reading an item or variable raises that another iteration of the loop makes.
NOT_YET = (IndexError, KeyError, NameError)


@contextmanager
def guessing() -> Iterator[None]:
    """Within the block the body of a loop is tried only to see of what kind its values become.

    A branch that reads what its first iteration does not have yet is skipped.
    """
    token = _guesses.set(True)
    try:
        yield
    finally:
        _guesses.reset(token)


def is_guess() -> bool:
    """Whether what is being built only shows kinds."""
    return _guesses.get()


_open: ContextVar[tuple[Knows, ...]] = ContextVar("constructs_being_built", default=())


@contextmanager
def watching(knows: Knows) -> Iterator[None]:
    """Within the block a construct is built that can replace lists for which `knows` holds."""
    token = _open.set((*_open.get(), knows))
    try:
        yield
    finally:
        _open.reset(token)


def belongs_outside(items: object) -> bool:
    """Whether a construct around the one being built saw the list first."""
    return any(knows(items) for knows in _open.get())


def array_of(place: Place, grown: Grown) -> Any:
    """The tensor array that takes the list's place; the list itself can't be read any more.

    Raises ConversionError where its elements have no common shape and dtype.
    """
    name, items = grown.name, grown.items
    if backend.get().is_array(items):  # made by create_array, which does not say what it will hold
        items.begin(grown.like)
        return items
    made = backend.get().array(items, grown.like)
    if isinstance(made, str):
        refuse(
            place,
            f"`{name}` changes its length where a Tensor decides, and can't become one tensor array",
            f"{describe(items)} before, {describe(grown.changed)} after: {made}",
            "keep Tensors of one shape and dtype in it, or loop over a Python range",
        )
    reason = f"at {place} its list became a tensor array under another name; use that name, or copy the list"
    items[:] = [Undefined(name, reason)]
    return made
