"""Readers made of readers: shuffled, joined, mapped, cut, kept."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from engine.core.errors import ArgumentError

Reader = Callable[[], Iterable[Any]]


def shuffle(reader: Reader, buf_size: int) -> Reader:
    """The items of ``reader``, shuffled within stretches of ``buf_size`` by Python's ``random``."""

    def shuffled() -> Iterator[Any]:
        items = iter(reader())
        while stretch := list(itertools.islice(items, max(int(buf_size), 1))):
            random.shuffle(stretch)
            yield from stretch

    return shuffled


def chain(*readers: Reader) -> Reader:
    """The items of all ``readers``, one after the other."""
    return lambda: itertools.chain.from_iterable(reader() for reader in readers)


def compose(*readers: Reader, check_alignment: bool = True) -> Reader:
    """Tuples of the corresponding items of ``readers``; items that are tuples are joined.

    The reader raises ComposeNotAligned where one ends before another; unless ``check_alignment``, what is
    left over is dropped.
    """

    def composed() -> Iterator[tuple[Any, ...]]:
        missing = object()
        for items in itertools.zip_longest(*(reader() for reader in readers), fillvalue=missing):
            if missing in items:
                if check_alignment:
                    raise ComposeNotAligned(
                        "compose: outputs of readers are not aligned: one ended before another; "
                        "give readers of one length, or check_alignment=False"
                    )
                return
            yield tuple(part for item in items for part in (item if isinstance(item, tuple) else (item,)))

    return composed


class ComposeNotAligned(ArgumentError):
    """Readers of different lengths."""


def map_readers(func: Callable[..., Any], *readers: Reader) -> Reader:
    """``func`` of the corresponding items of ``readers``, until the first of them ends."""
    return lambda: map(func, *(reader() for reader in readers))


def firstn(reader: Reader, n: int) -> Reader:
    """The first ``n`` items."""
    return lambda: itertools.islice(reader(), n)


def cache(reader: Reader) -> Reader:
    """All items, read at once and kept."""
    kept = tuple(reader())
    return lambda: iter(kept)


def buffered(reader: Reader, size: int) -> Reader:
    """The items of ``reader``. They are not read ahead: whoever wants them reads them."""
    return reader
