"""A Program as plain values: what the tree shows, whichever process holds the real one. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

Item = TypeVar("Item")


class Later(Sequence[Item], Generic[Item]):
    """Items that are made from plain values when they are looked at: a tree shows a few of very many.

    Args:
        plain: the plain values, in the order of the items.
        make: turns one of them into an item.
    """

    def __init__(self, plain: Sequence[Any], make: Callable[[Any], Item]) -> None:
        self.plain, self._make = plain, make
        self._made: dict[int, Item] = {}

    def __len__(self) -> int:
        return len(self.plain)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if at not in self._made:
            self._made[at] = self._make(self.plain[at])
        return self._made[at]

    def __iter__(self) -> Iterator[Item]:
        # Not cached: a walk through all items visits each once.
        return (self._make(value) for value in self.plain)


@dataclass(frozen=True)
class VariableData:
    """A variable of a block; -1 in the shape stands for a size that is known only when it runs."""

    name: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    persistable: bool = False
    parameter: bool = False
    stop_gradient: bool = False


@dataclass(frozen=True)
class OperatorData:
    """An operator: slots with their variables' names, attributes as plain values, where it was written.

    `line` is 0 if unknown; `sub_blocks` are the indices of the blocks that it runs.
    """

    type: str
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attrs: Mapping[str, object] = field(default_factory=dict)
    file: str = ""
    line: int = 0
    sub_blocks: tuple[int, ...] = ()


@dataclass(frozen=True)
class BlockData:
    """A block; `parent` is the index of the block around it, -1 for the outermost one."""

    index: int
    operators: Sequence[OperatorData] = ()
    variables: Sequence[VariableData] = ()
    parent: int = -1


@dataclass(frozen=True)
class ProgramData:
    """A Program, with its blocks in the order of their indices."""

    name: str = ""
    blocks: tuple[BlockData, ...] = ()


class Places:
    """Where variables stand, by name; looked through only as far as was needed so far.

    Variables that are made later must have a "name" before that.
    """

    def __init__(self, variables: Sequence[VariableData]) -> None:
        self._found: dict[str, int] = {}
        later = isinstance(variables, Later)
        names = (plain["name"] for plain in variables.plain) if later else (v.name for v in variables)
        self._names = enumerate(names)

    def find(self, name: str) -> int | None:
        """The place of the variable of that name, or None."""
        if name not in self._found:
            for place, other in self._names:
                self._found.setdefault(other, place)
                if other == name:
                    break
        return self._found.get(name)


def shape_text(shape: tuple[int, ...]) -> str:
    """`[?, 6, 28, 28]`: a question mark for a size that is known only when it runs."""
    return "[" + ", ".join("?" if size < 0 else str(size) for size in shape) + "]"


def value_text(value: object) -> str:
    """An attribute for people: Python's way of writing it, long ones shortened in the middle."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 200 else f"{text[:150]} ... {text[-40:]}"
