"""Streams and events of CUDA, by the number of their GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cupy

# Paddle's numbers (1 high, 2 normal) as CUDA's, where less is more urgent.
PRIORITIES = {1: -1, 2: 0}


def make(index: int, priority: int = 2) -> Any:
    """A new stream of GPU number ``index``; it does not wait for the default stream by itself."""
    with cupy.cuda.Device(index):
        return cupy.cuda.Stream(non_blocking=True, priority=PRIORITIES[priority])


def current(index: int) -> Any:
    """The stream that this thread gives its work to on GPU number ``index``."""
    return cupy.cuda.get_current_stream(index)


def use(index: int, stream: Any) -> None:
    """Make it the stream that this thread gives its work to on GPU number ``index``."""
    with cupy.cuda.Device(index):
        stream.use()


@contextmanager
def within(index: int, stream: Any) -> Iterator[None]:
    """Work of the block goes to this stream, on GPU number ``index``."""
    with cupy.cuda.Device(index), stream:
        yield


def event(index: int, timing: bool = True, blocking: bool = False, interprocess: bool = False) -> Any:
    """A new event of GPU number ``index``. CUDA measures no times between those of several processes."""
    with cupy.cuda.Device(index):
        return cupy.cuda.Event(
            block=blocking, disable_timing=interprocess or not timing, interprocess=interprocess
        )


def milliseconds(first: Any, second: Any) -> float:
    """The time from one event to another, both recorded with timing; waits until both are done."""
    first.synchronize()
    second.synchronize()
    return float(cupy.cuda.get_elapsed_time(first, second))


def wait_for(index: int, waiting: Any, other: Any) -> None:
    """Later work of the stream ``waiting`` runs after the present work of ``other`` of GPU ``index``."""
    waiting.wait_event(other.record(event(index, timing=False)))
