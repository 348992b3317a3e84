"""Threads for tests: functions that run at once, switched between as often as Python can."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SECONDS = 60.0  # that a thread may wait for the others


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What the functions give when each runs in a separate thread; an error of one is raised."""
    found: list[Any] = [None] * len(works)
    errors: list[BaseException] = []

    def run(place: int) -> None:
        try:
            found[place] = works[place]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


def together(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What ``work(n)`` gives for each number in a separate thread; all begin at one barrier."""
    barrier = threading.Barrier(count, timeout=SECONDS)

    def begin(n: int) -> Any:
        barrier.wait()
        return work(n)

    return at_once(*[lambda n=n: begin(n) for n in range(count)])  # type: ignore[misc]


@contextmanager
def switching_often() -> Iterator[None]:
    """Within the block Python switches between threads as often as it can, so that races show."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
