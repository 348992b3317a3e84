"""``LoDTensor``: an array whose rows are sequences of uneven lengths, on its way to or from an Executor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ModeError
from engine.core.place import Array, PlaceLike, fetched
from engine.ops.sequences.uneven import level_name
from engine.program.graph.program import Program

Lengths = Sequence[Sequence[int]]
Source = tuple[str | Sequence[int], bool]
"""Where the lengths of a fetched value are: the name of the feed that has them, or the positions of further
results that are the lengths of its levels. And whether an array must not lose them."""


class LoDTensor:
    """Rows of sequences, one after the other, and how many rows each sequence has.

    The lengths may have several levels, the outermost first: those of a level count the sequences of the
    next. Without lengths it is an array.
    """

    def __init__(self) -> None:
        self._value: np.ndarray[Any, Any] | None = None
        self._lengths: list[list[int]] = []

    def set(self, value: object, place: PlaceLike | None = None) -> None:
        """Hold a copy of ``value``. The Executor moves it to its own place, so ``place`` is not used."""
        self._value = np.array(value)

    def set_recursive_sequence_lengths(self, recursive_sequence_lengths: Lengths) -> None:
        """Set the lengths of the sequences, one list for each level.

        Raises ArgumentError for lengths that do not fit one another, or the rows where there are some.
        """
        levels = [[int(n) for n in level] for level in recursive_sequence_lengths]
        if any(n < 0 for level in levels for n in level):
            raise ArgumentError(f"LoDTensor: lengths must be 0 or more: got {levels}")
        if not _fit(levels, None if self._value is None else len(self)):
            rows = "" if self._value is None else f" and the {len(self)} rows"
            raise ArgumentError(
                f"LoDTensor: the provided lod info is invalid: {levels} do not fit one another{rows}: those "
                "of a level add up to the number of the next level's, the last ones to the rows"
            )
        self._lengths = levels

    def set_lod(self, lod: Lengths) -> None:
        """Set the lengths by offsets: ``[[0, 2, 5]]`` is a sequence of 2 rows and one of 3.

        Raises ArgumentError for offsets that do not begin with 0 or that fall, and as
        ``set_recursive_sequence_lengths``.
        """
        if any(len(level) < 1 or level[0] != 0 for level in lod):
            raise ArgumentError(f"LoDTensor.set_lod: offsets begin with 0 in each level: got {list(lod)}")
        self.set_recursive_sequence_lengths([np.diff(level).tolist() for level in lod])

    def lod(self) -> list[list[int]]:
        """The offsets at which the sequences of each level begin, and the last one's end."""
        return [np.cumsum([0, *level]).tolist() for level in self._lengths]

    def recursive_sequence_lengths(self) -> list[list[int]]:
        """The lengths of the sequences of each level."""
        return [list(level) for level in self._lengths]

    def has_valid_recursive_sequence_lengths(self) -> bool:
        """Whether the lengths fit the rows."""
        return _fit(self._lengths, len(self))

    def shape(self) -> list[int]:
        """The lengths of its dimensions."""
        return list(np.asarray(self).shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        value = np.empty((0,), np.float32) if self._value is None else self._value
        return value if dtype is None else value.astype(dtype, copy=False)

    def __len__(self) -> int:
        return len(np.atleast_1d(np.asarray(self)))

    def __repr__(self) -> str:
        lod = f", lod={self.lod()}" if self._lengths else ""
        return f"LoDTensor({np.asarray(self)!r}{lod})"


def _fit(levels: Lengths, rows: int | None) -> bool:
    counts = [*(len(level) for level in levels[1:]), rows]
    return all(n is None or sum(level) == n for level, n in zip(levels, counts[: len(levels)], strict=True))


def lod_tensor(value: object, lengths: Lengths) -> LoDTensor:
    """``value`` with lengths. Raises ArgumentError where they do not fit."""
    made = LoDTensor()
    made.set(value)
    made.set_recursive_sequence_lengths(lengths)
    return made


def joined(parts: Sequence[object]) -> Any:
    """The values of the parts of a batch one after the other, with their lengths if they have some."""
    value = np.concatenate([np.asarray(part) for part in parts])
    levels = [part.recursive_sequence_lengths() for part in parts if isinstance(part, LoDTensor)]
    if not any(levels):
        return value
    if len({len(each) for each in levels}) > 1 or len(levels) < len(parts):
        raise ArgumentError(
            "Executor.run: the parts of a batch have lengths of different levels; give all as many"
        )
    return lod_tensor(value, [list(chain(*each)) for each in zip(*levels, strict=True)])


def with_levels(program: Program, feeds: Mapping[str, object]) -> Mapping[str, Any]:
    """``feeds`` and the lengths of the LoDTensors among them, as far as the Program reads them."""
    uneven = {name: v.recursive_sequence_lengths() for name, v in feeds.items() if isinstance(v, LoDTensor)}
    if not any(uneven.values()):
        return feeds
    known = program.global_block().vars
    levels = {
        level_name(name, n): np.array(lengths, np.int64)
        for name, each in uneven.items()
        for n, lengths in enumerate(each)
    }
    return {**feeds, **{name: lengths for name, lengths in levels.items() if name in known}}


def fed_rows(names: Iterable[str]) -> list[str]:
    """The fed Variables among whose levels ``names`` are."""
    return sorted({name.rpartition("@LOD_")[0] for name in names if "@LOD_" in name})


def with_lengths(
    sources: Sequence[Source], results: Sequence[Array], feeds: Mapping[str, object], return_numpy: bool
) -> list[Any]:
    """The fetched values of a Program on sequences: LoDTensors, or arrays with ``return_numpy``.

    Raises ModeError where an array would lose its lengths.
    """
    arrays = [np.asarray(r if isinstance(r, (np.ndarray, np.generic)) else fetched(r)) for r in results]
    found = [lod_tensor(arrays[n], _lengths(place, arrays, feeds)) for n, (place, _) in enumerate(sources)]
    if not return_numpy:
        return found
    if any(strict and value.lod() for (_, strict), value in zip(sources, found, strict=True)):
        raise ModeError(
            "Executor.run: Some of your fetched tensors hold LoD information. They can not be completely "
            "cast to Python ndarray. Please set the parameter 'return_numpy' as 'False' to return LoDTensor "
            "itself directly."
        )
    return arrays[: len(found)]


def _lengths(source: str | Sequence[int], arrays: Sequence[Array], feeds: Mapping[str, object]) -> Lengths:
    if not isinstance(source, str):
        return [arrays[n].tolist() for n in source]
    value = feeds.get(source)
    return value.recursive_sequence_lengths() if isinstance(value, LoDTensor) else []
