"""``batch``: groups what an older reader (a function that gives an iterator) yields."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from engine.core.errors import ArgumentError


def batch(
    reader: Callable[[], Iterable[Any]], batch_size: int, drop_last: bool = False
) -> Callable[[], Iterator[list[Any]]]:
    """A reader of lists of ``batch_size`` items of ``reader``; the last may be shorter unless ``drop_last``.

    Raises ArgumentError unless ``batch_size`` is positive.
    """
    size = int(batch_size)
    if size <= 0:
        raise ArgumentError(f"batch: batch_size should be a positive integer: got {batch_size!r}")

    def batch_reader() -> Iterator[list[Any]]:
        items = iter(reader())
        while group := list(itertools.islice(items, size)):
            if len(group) == size or not drop_last:
                yield group

    return batch_reader
