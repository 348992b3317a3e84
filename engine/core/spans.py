"""Spans of time that a profiler records: operators as they run, and blocks that other rooms name.

While nothing records, operators run the kernels themselves: recording puts timed ones in their place, and
takes them out again at its end.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter_ns
from types import FrameType, TracebackType
from typing import Any, Protocol

from engine.core.errors import ModeError
from engine.core.place import backend as backend_of
from engine.core.place import current_place


class Timer(Protocol):
    """Receives the time that data loading takes."""

    def reads(self, dataset: object) -> None:
        """A batch of ``dataset`` is about to be read."""

    def has_read(self) -> None:
        """The batch has arrived."""


class Recorder(Protocol):
    """Receives each span when it ends; ``shapes``: with the shapes of operators' inputs.

    ``details``: operators are reported by ``operator``, which sees their inputs and results.
    """

    shapes: bool
    details: bool

    def add(self, kind: str, name: str, start: int, shapes: tuple[tuple[int, ...], ...] = ()) -> None:
        """A span that began at ``start`` (``perf_counter_ns``) ends now."""

    def operator(self, name: str, start: int, end: int, call: Call) -> None:
        """An operator ran from ``start`` to ``end``."""


class Call:
    """One call of an operator's kernel: arguments, results (None after an error), and its caller."""

    __slots__ = ("args", "attrs", "frame", "result")

    def __init__(self, args: tuple[Any, ...], attrs: dict[str, Any], result: Any, frame: FrameType) -> None:
        self.args, self.attrs, self.result, self.frame = args, attrs, result, frame


class OpenSpan:
    """A block that is being recorded; ``close()`` or the end of the ``with`` block ends its span."""

    __slots__ = ("_kind", "_name", "_recorder", "_start")

    def __init__(self, recorder: Recorder, kind: str, name: str) -> None:
        self._recorder, self._kind, self._name = recorder, kind, name
        self._start = perf_counter_ns()

    def close(self) -> None:
        self._recorder.add(self._kind, self._name, self._start)

    def __enter__(self) -> OpenSpan:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Watch:
    """Observers: a ``recorder`` of spans, and a ``timer`` of data loading; None for none.

    ``changing`` are called with True after a recording began, and with False after it ended.
    """

    def __init__(self) -> None:
        self.recorder: Recorder | None = None
        self.layers = 0  # who observes calls of Layers: the recorder, and functions that are traced
        self.timer: Timer | None = None
        self.changing: list[Callable[[bool], None]] = []

    def start(self, recorder: Recorder) -> None:
        """Record into ``recorder``, in all threads. Raises ModeError where something records already."""
        if self.recorder is not None:
            raise ModeError("profiler: another one is recording; stop it first")
        self.recorder = recorder
        self.observe_layers(True)
        for change in self.changing:
            change(True)

    def stop(self) -> None:
        """Record no more."""
        if self.recorder is not None:
            self.observe_layers(False)
        self.recorder = None
        for change in self.changing:
            change(False)

    def observe_layers(self, begins: bool) -> None:
        """Count one that observes calls of Layers, or one less."""
        with _counting:
            self.layers += 1 if begins else -1

    def open(self, kind: str, name: str) -> OpenSpan | None:
        """Begin a span; None where nothing records."""
        recorder = self.recorder
        return None if recorder is None else OpenSpan(recorder, kind, name)

    def span(self, kind: str, name: str) -> AbstractContextManager[Any]:
        """A block that is recorded where something records."""
        return self.open(kind, name) or _NOTHING


_NOTHING = nullcontext()
_counting = threading.Lock()
watch = _Watch()


def timed(
    name: str,
    kernel: Callable[..., Any],
    backend: str,
    bound: tuple[Sequence[Any], Mapping[str, Any], Any] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """``kernel`` in a span of the operator ``name``. On a GPU the span ends when the result is complete.

    ``bound`` represents the inputs, attributes and result of a kernel that has its arrays bound to it;
    ``attrs`` the attributes of a kernel that has only those bound to it and does not report them.
    """

    def run(*args: Any, **kwargs: Any) -> Any:
        recorder = watch.recorder
        if recorder is None:  # a plan that is still running when recording ends
            return kernel(*args, **kwargs)
        result = None
        start = perf_counter_ns()
        try:
            result = kernel(*args, **kwargs)
            if backend != "cpu":
                place = current_place()
                backend_of(place).synchronize(place.index)
            return result
        finally:
            if recorder.details:
                end = perf_counter_ns()
                frame = sys._getframe(1)
                if bound is None:  # a plan may have bound attributes
                    known = getattr(kernel, "keywords", {}) if attrs is None else dict(attrs)
                    call = Call(args, known | kwargs, result, frame)
                else:
                    call = Call(tuple(bound[0]), dict(bound[1]), bound[2], frame)
                recorder.operator(name, start, end, call)
            else:
                recorder.add("Operator", name, start, _shapes(args) if recorder.shapes else ())

    return run


def _shapes(arguments: tuple[Any, ...]) -> tuple[tuple[int, ...], ...]:
    """The shapes of the arrays among a kernel's arguments."""
    found = (getattr(argument, "shape", None) for argument in arguments)
    return tuple(shape for shape in found if isinstance(shape, tuple))
