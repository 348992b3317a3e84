"""Arrays whose elements differ in their number of rows and in the lengths of their sequences.

In a Program the elements of such an array are the rows of one Variable, one element after the other. Next to
it are the number of rows of each element, and for each level of lengths the same two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.frames import located, user_frame
from engine.core.values.spec import Spec
from engine.program.graph.variable import Variable
from engine.static.nn.sequence_lengths import find_levels, with_levels
from engine.tensor import creation, manipulation, math
from engine.tensor.arrays.tensor_array import TensorArray
from engine.tensor.elements import scattering
from engine.tensor.elements.arranging import slice_
from engine.tensor.reductions import reduction

_END = 2**31 - 1


class RowsArray(TensorArray):
    """What ``fluid.layers.create_array`` gives in a Program: its first element decides of what kind it is.

    Elements without lengths whose shape is known are as in every TensorArray.
    """

    def __init__(self) -> None:
        self._uneven = False
        super().__init__(None, ())

    @property
    def is_uneven(self) -> bool:
        """Whether the elements differ in their number of rows."""
        return self._uneven and bool(self._stacked)

    def columns(self) -> list[tuple[Any, Any]]:
        """The rows of all elements and the number of each one's: of the values, and of each level."""
        return list(zip(self._stacked[::2], self._stacked[1::2], strict=True))

    def begin(self, like: object) -> None:
        """Take the kind of the first element, if the array has none yet."""
        if self._stacked:
            return
        levels = find_levels(like)
        self._uneven = isinstance(like, Variable) and bool(levels or like.spec.shape[:1] == (-1,))
        if not self._uneven:
            super().begin(like)
            return
        parts = [slice_(each, [0], [0], [0]) for each in (like, *levels)]
        counts = [creation.full([0], 0, "int64") for _ in parts]
        made = [v for pair in zip(parts, counts, strict=True) for v in pair]
        for each in made:
            each.grows = True
        self.become(made, [None] * len(made))

    def write(self, i: Any, element: Any) -> None:
        """Put an element at position ``i``, which may be one past the end."""
        if not self.is_uneven:
            super().write(i, element)
            return
        parts, columns = [element, *find_levels(element)], self.columns()
        if len(parts) < len(columns):
            raise located(
                ArgumentError(
                    f"array_write: the array holds sequences with {len(columns) - 1} levels of lengths, x "
                    f"{element.name!r} has {len(parts) - 1}; use layers.lod_reset"
                ),
                user_frame(),
            )
        at = _one(i)
        made: list[Any] = []
        for part, (rows, counts) in zip(parts, columns, strict=False):
            start, size = _within(counts, at)
            own = math.cast(manipulation.shape(part)[:1], "int64")
            made.append(_spliced(rows, start, part, start + size))
            made.append(_spliced(counts, at, own, at + 1))
        self.become(made)

    def __getitem__(self, index: Any) -> Any:
        if not self.is_uneven:
            return super().__getitem__(index)
        if isinstance(index, slice):
            raise self._refused("a slice", "read its elements one by one")
        found = []
        for rows, counts in self.columns():
            start, size = _within(counts, _one(index), exists=True)
            found.append(slice_(rows, [0], [start], [start + size]))
        return with_levels(found[0], found[1:])

    def length(self) -> Any:
        """The number of elements, an int64 Variable."""
        return (
            math.cast(manipulation.shape(self._stacked[1]), "int64") if self.is_uneven else super().length()
        )

    def stacked(self, axis: int = 0) -> Any:
        """All elements in one Variable; they must have equal numbers of rows when the Program runs."""
        return self._even().stacked(axis) if self.is_uneven else super().stacked(axis)

    def concatenated(self, axis: int = 0) -> Any:
        """All elements one after another; along another dimension than the rows they must be equally many."""
        if not self.is_uneven:
            return super().concatenated(axis)
        return self._stacked[0] if axis == 0 else self._even().concatenated(axis)

    def _even(self) -> TensorArray:
        rows, counts = self._stacked[:2]
        sizes = [self.length(), reduction.max(counts), *rows.shape[1:]]
        return TensorArray(None, [manipulation.reshape(rows, sizes)])

    def with_leaves(self, leaves: Sequence[Any]) -> TensorArray:
        """An array of the same kind."""
        made = RowsArray()
        made._uneven, made._stacked, made._structure = self._uneven, tuple(leaves), self._structure
        return made

    def elements(self, stacked: Sequence[Any]) -> list[Any]:
        """The list of the array, of the values of its leaves when the Program has run."""
        if not self._uneven:
            return super().elements(stacked)
        return list(np.split(stacked[0], np.cumsum(stacked[1])[:-1]))

    def element_specs(self) -> list[Spec]:
        """Shape and dtype of an element."""
        return (
            [self._stacked[0].spec.with_shape((-1, *self._stacked[0].shape[1:]))]
            if self.is_uneven
            else (super().element_specs())
        )

    def extend(self, elements: Iterable[Any] | TensorArray) -> None:
        """Add elements at the end, of an array whose elements are of one shape."""
        if self.is_uneven:
            self._changed()
        super().extend(elements)

    def _each(self, function: Any, element: Any) -> tuple[Any, ...]:
        if self.is_uneven:
            self._changed()
        return super()._each(function, element)

    def _changed(self) -> NoReturn:
        raise self._refused("a change other than array_write", "write its elements")


def _one(i: Any) -> Any:
    if isinstance(i, int):
        return creation.full([1], i, "int64")
    return math.cast(manipulation.reshape(i, [1]), "int64")


def _within(counts: Any, i: Any, exists: bool = False) -> tuple[Any, Any]:
    """The first row of element ``i`` and the number of its rows: 0 past the end, unless it ``exists``."""
    start = reduction.sum(slice_(counts, [0], [0], [i]), keepdim=True)
    if exists:
        return start, scattering.gather(counts, i)
    return start, reduction.sum(slice_(counts, [0], [i], [i + 1]), keepdim=True)


def _spliced(rows: Any, start: Any, new: Any, end: Any) -> Any:
    """``rows`` with ``new`` in place of those from ``start`` to before ``end``."""
    new = new if new.dtype == rows.dtype else math.cast(new, rows.dtype)
    return manipulation.concat([slice_(rows, [0], [0], [start]), new, slice_(rows, [0], [end], [_END])])
