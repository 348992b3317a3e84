"""Streams, events and graphs of the stand-in: work is done at once, or recorded while a stream captures.

A graph runs what it captured on the same memory again. Calls that CuPy or CUDA refuse during capture are
refused with their words (``cupy/cuda/stream.pyx``, its ``test_graph.py``, ``cupy_backends/cuda/libs``).
Copies that do not wait are seen by the host when it has waited, and their pinned source may not change
before.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cupy_stand_in import counts

_WORDS = {
    "StreamCaptureUnsupported": "operation not permitted when stream is capturing",
    "StreamCaptureInvalidated": "operation failed due to a previous error during capture",
    "StreamCaptureImplicit": "operation would make the legacy stream depend on a capturing blocking stream",
    "StreamCaptureUnmatched": "capture was not ended in the same stream as it began",
    "CapturedEvent": "operation not permitted on an event last recorded in a capturing stream",
    "IllegalState": "the operation cannot be performed in the present state",
    "InvalidResourceHandle": "invalid resource handle",
    "NotReady": "device not ready",
}


class CUDARuntimeError(RuntimeError):
    """An error of the driver."""


def cuda_error(name: str) -> CUDARuntimeError:
    return CUDARuntimeError(f"cudaError{name}: {_WORDS[name]}")


class _Capture:
    """The work of a capture, and whether an error has spoiled it."""

    def __init__(self, origin: Stream) -> None:
        self.origin, self.open, self.valid = origin, True, True
        self.streams = [origin]
        self.work: list[Callable[[], Any]] = []


_own = threading.local()
_numbers = itertools.count(1)


def _streams() -> list[Stream]:
    if not hasattr(_own, "streams"):
        _own.streams = [Stream.null]
    found: list[Stream] = _own.streams
    return found


def current(device_id: int = -1) -> Stream:
    """The stream that this thread gives its work to."""
    return _streams()[-1]


def capture() -> _Capture | None:
    """The capture that work goes into; None where it is done at once."""
    return current()._capture


def work(function: Callable[[], Any]) -> None:
    """Do something on the current stream; while it captures, keep it for the graph."""
    capturing = capture()
    if capturing is not None:
        capturing.work.append(function)
        return
    if current().ptr == 0 and any(not each.is_non_blocking for each in _capturing):
        raise cuda_error("StreamCaptureImplicit")
    with np.errstate(all="ignore"):
        function()


_capturing: list[Stream] = []
# Copies that the host has not waited for: functions to call when it has.
_unseen: list[Callable[[], None]] = []


def refuse_library(name: str) -> None:
    """CuPy calls cuBLAS and others with handles whose stream may not capture."""
    if capture() is not None:
        raise NotImplementedError(f"calling {name} API during stream capture is currently unsupported")


def refuse_wait() -> None:
    """The host would wait for work that has not run."""
    if capture() is not None:
        raise RuntimeError("the current stream is capturing, so synchronous API calls are disallowed")


def refuse_transfer(kind: str) -> None:
    """CuPy refuses every copy between host and device in a capture, of pinned memory too."""
    if capture() is not None:
        raise RuntimeError(f"the current stream is capturing, so {kind} transfers are disallowed")


def waited() -> None:
    """The host has waited: copies are seen."""
    counts.wait()
    seen()


def seen() -> None:
    while _unseen:
        _unseen.pop(0)()


def copied_later(out: Any, values: Any) -> None:
    """A copy to pinned memory that has not been waited for: its old values are spoiled until then."""
    if out.dtype.kind in "fc":
        out[...] = np.nan
    else:
        out.view(np.uint8 if out.flags.c_contiguous and out.ndim else out.dtype)[...] = 1

    def arrive() -> None:
        out[...] = values

    _unseen.append(arrive)


def read_later(source: Any) -> None:
    """A copy from pinned memory: writes there before the copy is made change the result."""
    before = source.copy()

    def check() -> None:
        if not np.array_equal(before, source, equal_nan=source.dtype.kind in "fc"):
            raise AssertionError(
                f"pinned memory {source.shape} {source.dtype} was written before its copy was waited for"
            )

    _unseen.append(check)


class Event:
    """``cupy.cuda.Event``."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        if interprocess and not disable_timing:
            raise ValueError("Timing must be disabled for interprocess events")
        self.ptr, self._timed = next(_numbers), not disable_timing
        self._at: float | None = None
        self._waited = False
        self._capture: _Capture | None = None

    @property
    def done(self) -> bool:
        if self._capture is not None and self._capture.open:
            raise cuda_error("CapturedEvent")
        seen()
        self._waited = True
        return True

    def record(self, stream: Any = None) -> None:
        self._capture = (current() if stream is None else stream)._capture
        self._at, self._waited = time.perf_counter(), False

    def synchronize(self) -> None:
        if self._capture is not None and self._capture.open:
            self._capture.valid = False
            raise cuda_error("CapturedEvent")
        self._waited = True
        waited()


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events; the host has waited for the later one."""
    for event in (start_event, end_event):
        if event._at is None or not event._timed:
            raise cuda_error("InvalidResourceHandle")
    if not end_event._waited:
        raise cuda_error("NotReady")
    return 1000.0 * (end_event._at - start_event._at)  # type: ignore[operator]


class Stream:
    """``cupy.cuda.Stream``."""

    null: Stream
    ptds: Stream

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: Any = None
    ) -> None:
        self.ptr = 0 if null else next(_numbers) << 8
        self.device_id = -1 if null else 0
        self.is_non_blocking, self.priority = non_blocking, priority or 0
        self._capture: _Capture | None = None

    def __enter__(self) -> Stream:
        _streams().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _streams().pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return self.ptr

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.ptr

    def use(self) -> Stream:
        _streams()[-1] = self
        return self

    @property
    def done(self) -> bool:
        if self._capture is not None:
            self._capture.valid = False
            return False
        return True

    def synchronize(self) -> None:
        if self._capture is not None:
            self._capture.valid = False
            raise cuda_error("StreamCaptureUnsupported")
        waited()

    def record(self, event: Event | None = None) -> Event:
        made = Event() if event is None else event
        made.record(self)
        return made

    def wait_event(self, event: Event) -> None:
        capturing = event._capture
        if capturing is not None and capturing.open and self._capture is None:
            if self.ptr == 0:
                raise cuda_error("StreamCaptureImplicit")
            self._capture = capturing
            capturing.streams.append(self)

    def add_callback(self, callback: Any, arg: Any) -> None:
        if self._capture is not None:
            self._capture.valid = False
            raise cuda_error("StreamCaptureUnsupported")
        callback(self, 0, arg)

    def launch_host_func(self, callback: Any, arg: Any) -> None:
        with self:
            work(lambda: callback(arg))

    def begin_capture(self, mode: Any = None) -> None:
        if self.ptr == 0:
            raise RuntimeError("cannot capture on the default (legacy) stream")
        if self._capture is not None:
            raise cuda_error("IllegalState")
        self._capture = _Capture(self)
        _capturing.append(self)

    def end_capture(self) -> Graph:
        capturing = self._capture
        if capturing is None:
            raise cuda_error("IllegalState")
        if capturing.origin is not self:
            capturing.valid = False
            raise cuda_error("StreamCaptureUnmatched")
        for stream in capturing.streams:
            stream._capture = None
        capturing.open = False
        _capturing.remove(self)
        if not capturing.valid:
            raise cuda_error("StreamCaptureInvalidated")
        made = Graph.__new__(Graph)
        made._work = capturing.work
        return made

    def is_capturing(self) -> bool:
        if self.ptr == 0 and any(not each.is_non_blocking for each in _capturing):
            raise cuda_error("StreamCaptureImplicit")
        return self._capture is not None


Stream.null = Stream(null=True)
Stream.ptds = Stream.null


class Graph:
    """``cupy.cuda.Graph``: made by a capture alone."""

    _work: list[Callable[[], Any]]

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(
            "currently this class cannot be initiated by the user and must be created via stream capture"
        )

    def launch(self, stream: Stream | None = None) -> None:
        counts.launch()
        with current() if stream is None else stream:
            for each in self._work:
                work(each)

    def upload(self, stream: Stream | None = None) -> None: ...


def wait_for_device() -> None:
    """``cudaDeviceSynchronize``."""
    if _capturing:
        for each in _capturing:
            if each._capture is not None:
                each._capture.valid = False
        raise cuda_error("StreamCaptureUnsupported")
    waited()
