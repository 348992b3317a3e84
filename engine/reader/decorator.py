"""Readers made of readers: shuffled, joined, mapped, cut, kept."""

from __future__ import annotations

import itertools
import random
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from engine.core.errors import ArgumentError
from engine.io.reading_ahead import ReadAhead

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
    """All items, read at once and cached."""
    items = tuple(reader())
    return lambda: iter(items)


def buffered(reader: Reader, size: int) -> Reader:
    """The items of ``reader``, up to ``size`` of them read ahead by a thread; 0 is any number."""
    return lambda: ReadAhead(reader, size if size > 0 else sys.maxsize)


def xmap_readers(
    mapper: Callable[[Any], Any], reader: Reader, process_num: int, buffer_size: int, order: bool = False
) -> Reader:
    """``mapper`` of the items of ``reader`` in their order, by ``process_num`` threads.

    At most ``buffer_size`` items are mapped ahead.
    """

    def mapped() -> Iterator[Any]:
        pool = ThreadPoolExecutor(max(int(process_num), 1), "xmap_readers")
        waiting: deque[Future[Any]] = deque()
        try:
            for item in reader():
                waiting.append(pool.submit(mapper, item))
                if len(waiting) >= max(int(buffer_size), 1):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    return mapped


def multiprocess_reader(readers: Sequence[Reader], use_pipe: bool = True, queue_size: int = 1000) -> Reader:
    """The items of all ``readers``, one of each in turn, each read ahead by a thread.

    Differs from Paddle: threads read, not processes; the order is always the same.
    """

    def joined() -> Iterator[Any]:
        running = [ReadAhead(reader, queue_size) for reader in readers]
        while running:
            for items in list(running):
                try:
                    item = next(items)
                except StopIteration:
                    running.remove(items)
                else:
                    yield item

    return joined
