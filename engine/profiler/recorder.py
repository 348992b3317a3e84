"""Spans of time, and what collects them while a profiler records."""

from __future__ import annotations

import threading
from time import perf_counter_ns
from typing import NamedTuple


class Span(NamedTuple):
    """What ran from ``start`` to ``end`` (nanoseconds of ``perf_counter_ns``) in a thread.

    ``shapes`` are those of the arrays that an operator took, where they are recorded.
    """

    kind: str
    name: str
    start: int
    end: int
    thread: int
    shapes: tuple[tuple[int, ...], ...] = ()


class Recorder:
    """The spans of one recording, in the order in which they end."""

    def __init__(self, shapes: bool = False) -> None:
        self.shapes = shapes
        self.spans: list[Span] = []

    def add(self, kind: str, name: str, start: int, shapes: tuple[tuple[int, ...], ...] = ()) -> None:
        """A span that began at ``start`` ends now."""
        self.spans.append(Span(kind, name, start, perf_counter_ns(), threading.get_ident(), shapes))
