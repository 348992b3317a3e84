"""``DataFeeder``: rows of a reader as the arrays that an Executor is fed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.place import PlaceLike
from engine.program.graph.program import Program, Variable
from engine.program.run.executor import default_main_program
from engine.program.run.lod_tensor import LoDTensor, lod_tensor

__all__ = ["DataFeeder"]


class DataFeeder:
    """Gathers each field of the rows in an array of the Variable's dtype, by the names in ``feed_list``.

    Fields of a Variable with ``lod_level`` are sequences, which become the rows of a LoDTensor.
    """

    def __init__(
        self, feed_list: Sequence[Any], place: PlaceLike | None = None, program: Program | None = None
    ) -> None:
        block = (program or default_main_program()).global_block()
        self._variables = [block.var(v) if isinstance(v, str) else v for v in feed_list]
        self.place = place

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, Any]:
        """The fields of all rows by name, reshaped where a Variable has another number of dimensions.

        Raises ArgumentError for a row of another number of fields, or fields that fill no such array.
        """
        rows = list(iterable)
        for row in rows:
            if len(row) != len(self._variables):
                raise ArgumentError(
                    f"DataFeeder.feed: a row has {len(row)} fields: feed_list has {len(self._variables)}; "
                    "give one field for each"
                )
        columns = zip(*rows, strict=True) if rows else [()] * len(self._variables)
        return {
            variable.name: _sequences(variable, column) if variable.lod_level else _array(variable, column)
            for variable, column in zip(self._variables, columns, strict=True)
        }

    def feed_parallel(
        self, iterable: Iterable[Any], num_places: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """What ``feed`` gives of each item of ``iterable``, which are the rows of one device each."""
        return map(self.feed, iterable)

    def decorate_reader(
        self,
        reader: Callable[[], Iterable[Any]],
        multi_devices: bool,
        num_places: int | None = None,
        drop_last: bool = True,
    ) -> Callable[[], Iterator[Any]]:
        """A reader of what ``feed`` gives of each item of ``reader``.

        With ``multi_devices`` a reader of lists, one for each of ``num_places`` devices (1 by default); the
        last list is skipped where it would be shorter, unless ``drop_last`` is false.
        """

        def decorated() -> Iterator[Any]:
            if not multi_devices:
                yield from map(self.feed, reader())
                return
            count, items = num_places or 1, iter(reader())
            while group := [self.feed(rows) for rows in itertools.islice(items, count)]:
                if len(group) == count or not drop_last:
                    yield group

        return decorated


def _array(variable: Variable, column: Sequence[Any]) -> np.ndarray[Any, Any]:
    """The values of one field, one from each row."""
    shape = variable.spec.shape
    try:
        array = np.array([np.asarray(value) for value in column], dtype=variable.spec.dtype.np)
        return array if array.ndim == len(shape) else array.reshape(shape)
    except ValueError as cause:
        sizes = sorted({np.shape(value) for value in column})[:4]
        raise ArgumentError(
            f"DataFeeder.feed: {variable.name!r} {variable.spec} can't be made of fields of shapes {sizes}; "
            "give fields of the Variable's shape, all of one size"
        ) from cause


def _sequences(variable: Variable, column: Sequence[Any]) -> LoDTensor:
    """The rows of the sequences of one field, with the lengths of each level."""
    levels, rows = [], list(column)
    for _ in range(variable.lod_level):
        levels.append([len(sequence) for sequence in rows])
        rows = [each for sequence in rows for each in sequence]
    empty = np.zeros((0, *(abs(size) for size in variable.spec.shape[1:])), variable.spec.dtype.np)
    return lod_tensor(_array(variable, rows) if rows else empty, levels)
