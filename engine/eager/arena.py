"""Parameters of an optimizer and their state in flat arrays, so that one operator updates many of them.

An Arena holds the values of some parameters end to end in one array, and those of each slot of their state
alike; every Tensor's array is a slice of it. Names, values and version counters of the Tensors stay. Where
the array of a Tensor is replaced, its row leaves the arena and is updated alone; it comes back when it may.

A Tensor moves in only where its memory has no other holder (a view, a detached twin, an array that another
process shares): such a holder would still see the old memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from operator import is_
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np

from engine.core.operators.operator import Counter
from engine.core.place import Array
from engine.eager.tensor import Parameter, Tensor, counter_of, wrap
from engine.ops.training.flat_updates import is_power

_KINDS = (np.dtype(np.float32), np.dtype(np.float64))
# A row that may not move in is checked again after 1, 2, 4 ... steps, this many at most.
_LONGEST_WAIT = 64
# Slices begin at multiples of this number of bytes as long as their lengths allow it.
_LINE = 64
_MOST_STRETCHES = 64


class Row:
    """One parameter: its Tensors (itself first, then its slots), their slices, and its place."""

    __slots__ = ("_counters", "arena", "arrays", "begin", "end", "number", "tensors")

    def __init__(self, arena: Arena | None, tensors: tuple[Tensor, ...], begin: int, number: int) -> None:
        self.arena = cast(Arena, arena)  # None where holders are counted
        self.tensors = tensors
        self.begin = begin
        self.end = begin + tensors[0]._array.size
        self.number = number
        self.arrays: tuple[Any, ...] = ()
        self._counters: list[Counter] = []

    @property
    def here(self) -> bool:
        """Whether all its Tensors still have their slices."""
        return all(map(is_, [tensor._array for tensor in self.tensors], self.arrays))

    def updated(self) -> None:
        """Advance the version counters of its Tensors, whose values were replaced."""
        for counter in self._counters:
            counter.count += 1

    def put(self, arrays: tuple[Any, ...]) -> None:
        """Let its Tensors use ``arrays``."""
        for tensor, array in zip(self.tensors, arrays, strict=True):
            if tensor._array is not array:
                array[...] = tensor._array
                tensor._array = array
        self.arrays = arrays
        self._counters = [counter_of(tensor) for tensor in self.tensors]


class Arena:
    """Rows of one dtype in flat arrays, one for the parameters and one for each slot."""

    def __init__(self, members: Sequence[tuple[Tensor, ...]], powers: Sequence[bool]) -> None:
        """Move ``members`` in; ``powers`` marks the Tensors of a row that hold one number."""
        dtype = members[0][0]._array.dtype
        aligned = _LINE // dtype.itemsize
        # Whole lines first: all of these begin at a line, whatever the order.
        ordered = sorted(members, key=lambda tensors: tensors[0]._array.size % aligned != 0)
        self.rows: list[Row] = []
        length = 0
        for number, tensors in enumerate(ordered):
            self.rows.append(Row(self, tensors, length, number))
            length = self.rows[-1].end
        self.powers = tuple(powers)
        flats = []
        for column, single in enumerate(powers):
            dtype = members[0][column]._array.dtype
            flats.append(_aligned(len(ordered) if single else length, dtype))
        self.flats = tuple(flats)
        for row in self.rows:
            row.put(tuple([self._slice(row, column) for column in range(len(flats))]))
        self.by_array = {id(row.arrays[0]): row for row in self.rows}
        _by_owner[id(self.flats[0].base)] = self
        self._stretches: dict[tuple[int, int], list[Tensor]] = {}
        self._held = [self._holders(column) for column in range(len(flats))]

    def _slice(self, row: Row, column: int) -> Any:
        place = slice(row.number, row.number + 1) if self.powers[column] else slice(row.begin, row.end)
        return self.flats[column][place].reshape(row.tensors[column]._array.shape)

    def _holders(self, column: int) -> int:
        """How many hold the memory of a column: the slices are some of them, views of those as well."""
        return sys.getrefcount(self.flats[column].base) - len(getattr(self, "_stretches", ()))

    def stretch(self, first: Row, last: Row) -> list[Tensor]:
        """The Tensors of all columns from one row to another, both included."""
        key = (first.number, last.number)
        found = self._stretches.get(key)
        if found is None:
            if len(self._stretches) > _MOST_STRETCHES:
                self._stretches.clear()
            numbers, elements = slice(first.number, last.number + 1), slice(first.begin, last.end)
            found = self._stretches[key] = [
                wrap(flat[numbers if single else elements])
                for flat, single in zip(self.flats, self.powers, strict=True)
            ]
        return found

    def power(self, row: Row) -> list[Any]:
        """The powers of a row: only rows where they are the same are updated together."""
        return [
            flat[row.number].item() for flat, single in zip(self.flats, self.powers, strict=True) if single
        ]

    def uniform(self, first: Row, last: Row) -> bool:
        """Whether the powers of all rows from one to another are the same."""
        for flat, single in zip(self.flats, self.powers, strict=True):
            if single:
                values = flat[first.number : last.number + 1]
                if values.tobytes() != values[:1].tobytes() * len(values):
                    return False
        return True

    def restore(self, row: Row) -> bool:
        """Let Tensors whose arrays were replaced use their slices again; False where that would be seen."""
        strays = [n for n, tensor in enumerate(row.tensors) if tensor._array is not row.arrays[n]]
        for n in strays:
            # One holder more may be a view of the row that left, or a twin that still has the slice itself.
            if self._holders(n) > self._held[n] or _slice_holders(row, n) > _OF_A_SLICE:
                return False
            if not _alone(row.tensors[n]):
                return False
        row.put(row.arrays)
        return True

    def could_return(self, row: Row) -> bool:
        """Whether the Tensors of a row are still of the shape and dtype of their slices."""
        return all(
            tensor._array.shape == array.shape and tensor._array.dtype == array.dtype
            for tensor, array in zip(row.tensors, row.arrays, strict=True)
        )


_by_owner: WeakValueDictionary[int, Arena] = WeakValueDictionary()


def row_at(array: Array) -> Row | None:
    """The row whose parameter uses ``array`` as its slice."""
    arena = _by_owner.get(id(array.base))
    row = None if arena is None else arena.by_array.get(id(array))
    return row if row is not None and row.arrays[0] is array else None


class Arenas:
    """The arenas of one optimizer. ``state`` names the slots as the update's operator calls them."""

    def __init__(self, state: Iterable[str]) -> None:
        self._powers = (False, *map(is_power, state))
        self._rows: dict[int, Row] = {}  # by the id of the parameter, which the row holds
        self._waiting: dict[int, int] = {}  # how many steps until a parameter is checked again
        self._waits: dict[int, int] = {}  # how long it waited last

    def find(self, parameter: Tensor | None) -> Row | None:
        """The row of a parameter; None where it is updated alone in this step."""
        key = id(parameter)
        row = self._rows.get(key)
        if row is None or row.here:
            return row
        if not row.arena.could_return(row):
            del self._rows[key]
            return None
        if self._is_due(key):
            if row.arena.restore(row):
                self._settled(key)
                return row
            self._refuse(key)
        return None

    def homeless(self, parameters: Iterable[Any]) -> list[Any]:
        """Those that have no row and may be asked now."""
        return [p for p in parameters if id(p) not in self._rows and self._is_due(id(p))]

    def take_in(self, members: Sequence[tuple[Tensor, ...]]) -> None:
        """Move parameters with their state into arenas: those that may, two and more of a dtype."""
        kinds: dict[Any, list[tuple[Tensor, ...]]] = {}
        for tensors in members:
            row = row_at(tensors[0]._array)
            if row is not None and len(row.tensors) == len(tensors) and all(map(is_, row.tensors, tensors)):
                self._rows[id(tensors[0])] = row  # a plan and a step outside of it share their arena
                self._settled(id(tensors[0]))
            elif self._fits(tensors):
                kinds.setdefault(tensors[0]._array.dtype, []).append(tensors)
            else:
                self._refuse(id(tensors[0]))
        for alike in kinds.values():
            if len(alike) < 2:
                self._refuse(id(alike[0][0]))
                continue
            arena = Arena(alike, self._powers)
            for row in arena.rows:
                self._rows[id(row.tensors[0])] = row
                self._settled(id(row.tensors[0]))

    def _is_due(self, key: int) -> bool:
        left = self._waiting.get(key, 0)
        if left:
            self._waiting[key] = left - 1
        return not left

    def _refuse(self, key: int) -> None:
        wait = self._waits[key] = min(2 * self._waits.get(key, 1), _LONGEST_WAIT)
        self._waiting[key] = wait - 1

    def _settled(self, key: int) -> None:
        self._waiting.pop(key, None)
        self._waits.pop(key, None)

    def _fits(self, tensors: tuple[Tensor, ...]) -> bool:
        shape, dtype = tensors[0]._array.shape, tensors[0]._array.dtype
        for tensor, single in zip(tensors, self._powers, strict=True):
            if not _alone(tensor):
                return False
            array = tensor._array
            alike = array.shape == ((1,) if single else shape) and array.dtype == dtype
            if not alike or array.dtype not in _KINDS or not array.size:
                return False
            del array  # which would count as a holder
        return True


def _alone(tensor: Tensor) -> bool:
    """Whether only ``tensor`` holds its memory."""
    if tensor.__class__ is not Tensor and not isinstance(tensor, Parameter):
        return False
    if tensor._array.__class__ is not np.ndarray or _holders(tensor) > _OF_ONE:
        return False
    if not tensor._array.flags.c_contiguous or not tensor._array.flags.writeable:
        return False
    if tensor._array.base is None:
        return True
    if tensor._array.base.__class__ is not np.ndarray or tensor._array.base.base is not None:
        return False
    return _owner_holders(tensor) <= _OF_ONE_OWNER


def _holders(tensor: Tensor) -> int:
    return sys.getrefcount(tensor._array)


def _owner_holders(tensor: Tensor) -> int:
    return sys.getrefcount(tensor._array.base)


def _slice_holders(row: Row, column: int) -> int:
    return sys.getrefcount(row.arrays[column])


# The counts of these functions for one holder, which depend on the version of Python.
_OF_ONE = _holders(wrap(np.empty(1)))
_OF_ONE_OWNER = _owner_holders(wrap(np.empty(2)[:1]))
_ONE_ROW = Row(None, (wrap(np.empty(1)),), 0, 0)
_ONE_ROW.arrays = (np.empty(1),)
_OF_A_SLICE = _slice_holders(_ONE_ROW, 0)


def _aligned(length: int, dtype: Any) -> Any:
    """An array [length] that begins at a line of the cache."""
    spare = _LINE // dtype.itemsize
    array = np.empty(length + spare, dtype)
    skip = -array.ctypes.data % _LINE // dtype.itemsize
    return array[skip : skip + length]
