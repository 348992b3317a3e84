"""Sequences whose length only the running Program knows: ranges, rows of a Tensor, tensor arrays, and what
`enumerate`, `zip` and `reversed` make of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, ItemsView, Iterable, KeysView, Mapping, Sequence, ValuesView
from typing import Any, NoReturn

from engine.jit.convert import backend
from engine.jit.convert.backend import Number
from engine.jit.convert.runtime.merge import describe
from engine.jit.convert.runtime.state import refuse, user_place


class Indexed(ABC):
    """What a built loop goes over.

    The loop counts from `start` on by `step` while `goes_on(counter)` says so, each time with `at(counter)`.
    Inside another sequence it is asked for the item at an index from 0 on.
    """

    start: Any = 0
    step: Any = 1

    def goes_on(self, counter: Number) -> Any:
        return self.within(counter)

    def at(self, counter: Number) -> Any:
        return self.item(counter)

    @abstractmethod
    def within(self, index: Number) -> Any:
        """Whether there is an item at the index."""

    @abstractmethod
    def item(self, index: Number) -> Any: ...

    def __iter__(self) -> NoReturn:
        refuse(
            user_place(),
            "code that is not converted goes through a sequence whose length a Tensor decides",
            type(self).__name__.lower(),
            "write a `for` loop or a list comprehension over it, or fix the dimension in the InputSpec",
        )


class SymbolicRange(Indexed):
    """`range` with a symbolic start, stop or step."""

    def __init__(self, start: Number, stop: Number, step: Number) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    def goes_on(self, counter: Number) -> Any:
        tools = backend.get()
        if not tools.is_symbolic(self.step):
            return counter < self.stop if self.step > 0 else counter > self.stop
        upward = tools.logical_and(self.step > 0, counter < self.stop)
        return tools.logical_or(upward, tools.logical_and(self.step < 0, counter > self.stop))

    def at(self, counter: Number) -> Any:
        return counter

    def within(self, index: Number) -> Any:
        return self.goes_on(self.item(index))

    def item(self, index: Number) -> Any:
        return self.start + index * self.step

    def length(self) -> Any:
        """How many numbers there are."""
        tools = backend.get()
        if tools.is_symbolic(self.step):
            refuse(
                user_place(),
                "the length of a range whose step a Tensor says",
                "range",
                "use a Python number as the step",
            )
        count = (self.stop - self.start + self.step - (1 if self.step > 0 else -1)) // self.step
        return count * tools.cast(count > 0, "int64")


class Rows(Indexed):
    """The rows of a Tensor, or the elements of a tensor array."""

    def __init__(self, items: Any) -> None:
        self.items = items
        self.count = backend.get().length(items)

    def within(self, index: Number) -> Any:
        return index < self.count

    def item(self, index: Number) -> Any:
        return self.items[index]

    def length(self) -> Any:
        return self.count


class Known(Indexed):
    """Items whose number Python knows, in parallel with items whose number it does not know."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = items

    def within(self, index: Number) -> Any:
        return index < len(self.items)

    def item(self, index: Number) -> Any:
        if isinstance(self.items, range):
            return self.items.start + index * self.items.step
        return element(self.items, index)


class Enumerated(Indexed):
    """`enumerate`."""

    def __init__(self, items: Indexed, first: Number) -> None:
        self.items = items
        self.first = first

    def within(self, index: Number) -> Any:
        return self.items.within(index)

    def item(self, index: Number) -> Any:
        return (index + self.first, self.items.item(index))


class Zipped(Indexed):
    """`zip`."""

    def __init__(self, parts: Sequence[Indexed]) -> None:
        self.parts = tuple(parts)

    def within(self, index: Number) -> Any:
        first, *others = [part.within(index) for part in self.parts]
        for other in others:
            first = backend.get().logical_and(first, other)
        return first

    def item(self, index: Number) -> Any:
        return tuple([part.item(index) for part in self.parts])


class Mapped(Indexed):
    """What a function makes of every item."""

    def __init__(self, function: Callable[[Any], Any], items: Indexed) -> None:
        self.function = function
        self.items = items

    def within(self, index: Number) -> Any:
        return self.items.within(index)

    def item(self, index: Number) -> Any:
        return self.function(self.items.item(index))


class Reversed(Indexed):
    """`reversed`."""

    def __init__(self, items: SymbolicRange | Rows) -> None:
        self.items = items
        self.count = items.length()

    def within(self, index: Number) -> Any:
        return index < self.count

    def item(self, index: Number) -> Any:
        return self.items.item(self.count - 1 - index)


def is_built(items: object) -> bool:
    """Whether a loop over the items has to be built as an operator: its length is not known yet."""
    if isinstance(items, Indexed):
        return True
    return backend.get().is_symbolic(items) and not isinstance(backend.get().length(items), int)


def indexed(items: Iterable[Any]) -> Indexed:
    """The items for a built loop; raises ConversionError for what can't be indexed, such as an iterator."""
    tools = backend.get()
    if isinstance(items, Indexed):
        return items
    if tools.is_symbolic(items):
        return Rows(items)
    if isinstance(items, list | tuple | range):
        return Known(items)
    if isinstance(items, Mapping | KeysView | ValuesView | ItemsView) or tools.is_tensor(items):
        return Known(list(items))
    refuse(
        user_place(),
        "an iterator is zipped with a sequence whose length a Tensor decides",
        type(items).__name__,
        "give a list, a tuple or a range",
    )


def each(items: Iterable[Any]) -> Iterable[Any]:
    """The items of a loop that is unrolled."""
    if backend.get().is_symbolic(items):
        rows: Any = items
        return (rows[index] for index in range(backend.get().length(rows)))
    return items


def element(container: Sequence[Any], index: Number) -> Any:
    """An element of a list or tuple at a symbolic place; its elements have one structure."""
    array = backend.get().array(list(container), container[0]) if container else "it is empty"
    if isinstance(array, str):
        refuse(
            user_place(),
            f"an element of {describe(container)} at a place that a Tensor says",
            array,
            "keep Tensors of one shape and dtype in it, or index it with a Python number",
        )
    return array[index]
