"""Spans of time, and what collects them while a profiler records."""

from __future__ import annotations

import threading
from time import perf_counter_ns
from typing import TYPE_CHECKING, NamedTuple

from engine.profiler.work import Work, shapes_of, work_of

if TYPE_CHECKING:
    from engine.core.spans import Call


class Span(NamedTuple):
    """What ran from ``start`` to ``end`` (nanoseconds of ``perf_counter_ns``) in a thread.

    ``shapes`` are those of the arrays that an operator took, where they are recorded, and ``work`` is what
    its kernel did.
    """

    kind: str
    name: str
    start: int
    end: int
    thread: int
    shapes: tuple[tuple[int, ...], ...] = ()
    work: Work | None = None


class Recorder:
    """The spans of one recording, in the order in which they end; with ``details`` the work of operators."""

    def __init__(self, shapes: bool = False, details: bool = False) -> None:
        self.shapes, self.details = shapes, details
        self.spans: list[Span] = []

    def add(self, kind: str, name: str, start: int, shapes: tuple[tuple[int, ...], ...] = ()) -> None:
        """A span that began at ``start`` ends now."""
        self.spans.append(Span(kind, name, start, perf_counter_ns(), threading.get_ident(), shapes))

    def operator(self, name: str, start: int, end: int, call: Call) -> None:
        """An operator ran from ``start`` to ``end``."""
        shapes = shapes_of(call.args) if self.shapes else ()
        work = work_of(name, call)
        self.spans.append(Span("Operator", name, start, end, threading.get_ident(), shapes, work))
