"""Streams and events: what they mean where every operator is done when its call returns.

The engine gives a GPU its work in one stream, in order, and an event waits for what was given before it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.core.context import Setting
from engine.core.errors import DeviceError, DTypeError, ModeError
from engine.core.place import Place, as_place, backend, current_place
from engine.device.kinds import synchronize


class Event:
    """A point in the work of a device: ``record()`` notes the time at which all before it is done.

    Differs from Paddle: there are events on the CPU too, and times are measured whatever ``enable_timing``
    says; ``blocking`` and ``interprocess`` have no effect.
    """

    def __init__(
        self,
        device: Any = None,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        self.device = _usable(device)
        self._recorded: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Wait for the work given so far, and note the time."""
        synchronize(self.device if stream is None else stream.device)
        self._recorded = time.perf_counter()

    def query(self) -> bool:
        """True: what was recorded is done."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another one. Raises ModeError where one was not recorded."""
        if self._recorded is None or end_event._recorded is None:
            raise ModeError("Event.elapsed_time: both events must be recorded; call record() first")
        return (end_event._recorded - self._recorded) * 1000

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def __repr__(self) -> str:
        return f"Event(device={self.device})"


class Stream:
    """The order of a device's work.

    Differs from Paddle: there are streams on the CPU too, and all streams of a device stand for the one that
    the engine uses; ``priority`` and ``stream_base`` have no effect.
    """

    def __init__(self, device: Any = None, priority: int = 2, stream_base: Any = None) -> None:
        self.device = _usable(device)
        self.stream_base = stream_base

    def wait_event(self, event: Event) -> None:
        """What is given from now on runs after the event, as it does anyway."""

    def wait_stream(self, stream: Stream) -> None:
        """Wait for all work that another stream's device was given."""
        synchronize(stream.device)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (a new one by default) and return it."""
        made = Event(self.device) if event is None else event
        made.record(self)
        return made

    def query(self) -> bool:
        """Whether all work is done, for which it waits."""
        self.synchronize()
        return True

    def synchronize(self) -> None:
        """Wait for all work given so far."""
        synchronize(self.device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"Stream(device={self.device})"


_current: Setting[Stream | None] = Setting("device_stream", None)


def current_stream(device: Any = None) -> Stream:
    """The stream of a device, by default the current one. Raises DeviceError for a device that is absent."""
    chosen = _current.get()
    place = _usable(device)
    return chosen if chosen is not None and chosen.device == place else Stream(place)


def set_stream(stream: Stream) -> Stream:
    """Make a stream the current one; returns the one before. Raises DTypeError for anything else."""
    _require("set_stream", stream)
    before = current_stream(stream.device)
    _current.set(stream)
    return before


@contextmanager
def stream_guard(stream: Stream | None = None) -> Iterator[None]:
    """Within the block a stream is the current one; None changes nothing."""
    if stream is None:
        yield
        return
    _require("stream_guard", stream)
    with _current.guard(stream):
        yield


def _require(where: str, stream: Any) -> None:
    if not isinstance(stream, Stream):
        raise DTypeError(f"{where}: takes a Stream: got {type(stream).__name__}; use paddle.device.Stream()")


def _usable(device: Any) -> Place:
    """The place of a device given by name or place. Raises DeviceError where it can't be used."""
    place = current_place() if device is None else as_place(device)
    backend(place)
    return place


class XPUPlace:
    """Raises DeviceError: Baidu's XPUs are not used. Paddle without them ends the process."""

    def __init__(self, dev_id: int) -> None:
        raise DeviceError(f"XPUPlace({dev_id}): XPUs are not used here; use CPUPlace() or CUDAPlace(0)")


class IPUPlace:
    """Raises DeviceError: Graphcore's IPUs are not used. Paddle without them ends the process."""

    def __init__(self) -> None:
        raise DeviceError("IPUPlace: IPUs are not used here; use CPUPlace() or CUDAPlace(0)")
