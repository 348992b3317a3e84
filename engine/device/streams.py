"""Streams and events: the order of a device's work, and points in it.

A GPU's are CUDA's own, through CuPy. On the CPU every operator is done when its call returns, so that there
all streams are one, and an event is a time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.core.context import Setting
from engine.core.errors import ArgumentError, DeviceError, DTypeError, ModeError
from engine.core.place import CUDAPlace, Place, PlaceLike, as_place, backend, current_place, look, place_guard
from engine.device.kinds import synchronize


class Event:
    """A point in the work of a device: ``record()`` sets it behind all that a stream was given.

    Differs from Paddle: there are events on the CPU too, and ``elapsed_time`` measures, where Paddle's gives
    0, whatever ``enable_timing`` says. On the CPU ``blocking`` and ``interprocess`` have no effect.
    """

    def __init__(
        self,
        device: PlaceLike | None = None,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        self.device = _usable(device)
        self.event_base: Any = None
        self._recorded: float | None = None
        self._timed = not interprocess
        if self.device.is_gpu_place():
            made = _of(self.device).event(
                self.device.index, blocking=bool(blocking), interprocess=bool(interprocess)
            )
            self.event_base = made

    def record(self, stream: Stream | None = None) -> None:
        """Set the event behind what the stream, by default the current one, was given so far.

        Raises ArgumentError for a stream of another device.
        """
        chosen = current_stream(self.device) if stream is None else stream
        if chosen.device != self.device:
            raise ArgumentError(
                f"Event.record: an event of {self.device} can't be recorded in a stream of {chosen.device}: "
                "create the event with that device"
            )
        if self.event_base is not None:
            with backend(self.device).on(self.device.index):
                self.event_base.record(chosen.stream_base)
        self._recorded = time.perf_counter()

    def query(self) -> bool:
        """Whether what was given before is done; True for an event that was not recorded."""
        return self.event_base is None or bool(self.event_base.done)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another one of its device, for both of which it waits.

        Raises ModeError where one was not recorded or measures no time (``interprocess``), ArgumentError for
        events of two devices.
        """
        if self._recorded is None or end_event._recorded is None:
            raise ModeError("Event.elapsed_time: both events must be recorded; call record() first")
        if self.device != end_event.device:
            raise ArgumentError(
                f"Event.elapsed_time: the events belong to {self.device} and {end_event.device}; use two of "
                "one device"
            )
        if self.event_base is None:
            return (end_event._recorded - self._recorded) * 1000
        if not (self._timed and end_event._timed):
            raise ModeError(
                "Event.elapsed_time: an event that several processes share measures no time; make it without "
                "interprocess=True"
            )
        return float(_of(self.device).milliseconds(self.event_base, end_event.event_base))

    def synchronize(self) -> None:
        """Wait until what was given before is done."""
        if self.event_base is not None:
            self.event_base.synchronize()
            look()

    def __repr__(self) -> str:
        return f"Event(device={self.device})"


class Stream:
    """The order of a device's work: what two streams of a GPU were given runs side by side.

    ``priority`` is 1 (high) or 2. ``stream_base`` is a stream of CuPy, which is then used. Arrays that one
    stream makes and another reads must be ordered by ``wait_stream`` or events, and must live until both are
    done.

    Differs from Paddle: there are streams on the CPU too, which all stand for one.

    Raises:
        ArgumentError: another priority.
        DTypeError: ``stream_base`` is not a stream of CuPy.
        DeviceError, MissingExtraError: the device can't be used.
    """

    stream_base: Any  # of CuPy; None on the CPU

    def __init__(self, device: PlaceLike | None = None, priority: int = 2, stream_base: Any = None) -> None:
        if priority not in (1, 2):
            raise ArgumentError(f"Stream: priority must be 1 (high) or 2 (normal): got {priority!r}")
        if stream_base is not None:
            self._adopt(stream_base, device)
            return
        self.device = _usable(device)
        self.stream_base = stream_base
        if self.device.is_gpu_place():
            self.stream_base = _of(self.device).make(self.device.index, priority)

    def _adopt(self, stream: Any, device: PlaceLike | None) -> None:
        if not (hasattr(stream, "ptr") and hasattr(stream, "wait_event")):
            raise DTypeError(
                f"Stream: stream_base must be a stream of CuPy: got {type(stream).__name__}; leave it out"
            )
        # The default stream serves whichever GPU is current, and says -1.
        known = device is None and stream.device_id >= 0
        self.device = CUDAPlace(stream.device_id) if known else _usable(device)
        self.stream_base = stream

    def wait_event(self, event: Event) -> None:
        """What is given from now on runs after the event; the host does not wait."""
        if self.stream_base is None:
            event.synchronize()
        elif event.event_base is not None:
            self.stream_base.wait_event(event.event_base)

    def wait_stream(self, stream: Stream) -> None:
        """What is given from now on runs after all that another stream was given; the host does not wait."""
        if stream.stream_base is None:
            return
        if self.stream_base is None:
            stream.synchronize()
        else:
            _of(stream.device).wait_for(stream.device.index, self.stream_base, stream.stream_base)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (a new one by default) and return it."""
        made = Event(self.device) if event is None else event
        made.record(self)
        return made

    def query(self) -> bool:
        """Whether all work is done."""
        return self.stream_base is None or bool(self.stream_base.done)

    def synchronize(self) -> None:
        """Wait for all work given so far."""
        if self.stream_base is None:
            synchronize(self.device)
        else:
            self.stream_base.synchronize()
            look()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream) or self.device != other.device:
            return False
        return bool(self.stream_base == other.stream_base)

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        if self.stream_base is None:
            return f"Stream(device={self.device})"
        return f"<paddle.device.Stream device={self.device} stream={self.stream_base.ptr:#x}>"


_current: Setting[Stream | None] = Setting("device_stream", None)


def current_stream(device: PlaceLike | None = None) -> Stream:
    """The stream that this thread's work on a device goes to, by default on the current one.

    Raises DeviceError for a device that is absent.
    """
    place = _usable(device)
    if place.is_gpu_place():
        return Stream(place, stream_base=_of(place).current(place.index))
    chosen = _current.get()
    return chosen if chosen is not None and chosen.device == place else Stream(place)


def set_stream(stream: Stream) -> Stream:
    """Make a stream the current one of its device; returns the one before.

    A GPU's is that of this thread. Raises DTypeError for anything else.
    """
    _require("set_stream", stream)
    before = current_stream(stream.device)
    if stream.stream_base is None:
        _current.set(stream)
    else:
        _of(stream.device).use(stream.device.index, stream.stream_base)
    return before


@contextmanager
def stream_guard(stream: Stream | None = None) -> Iterator[None]:
    """Within the block work goes to a stream, and new tensors to its device; None changes nothing."""
    if stream is None:
        yield
        return
    _require("stream_guard", stream)
    if stream.stream_base is None:
        with _current.guard(stream):
            yield
        return
    place = stream.device
    with place_guard(place), _of(place).within(place.index, stream.stream_base):
        yield


def _require(where: str, stream: object) -> None:
    if not isinstance(stream, Stream):
        raise DTypeError(f"{where}: takes a Stream: got {type(stream).__name__}; use paddle.device.Stream()")


def _usable(device: PlaceLike | None) -> Place:
    """The place of a device given by name or place. Raises DeviceError where it can't be used."""
    place = current_place() if device is None else as_place(device)
    backend(place)
    return place


def _of(place: Place) -> Any:
    """The module that makes streams and events of a GPU."""
    return backend(place).streams


class XPUPlace:
    """Raises DeviceError: Baidu's XPUs are not used. Paddle without them ends the process."""

    def __init__(self, dev_id: int) -> None:
        raise DeviceError(f"XPUPlace({dev_id}): XPUs are not used here; use CPUPlace() or CUDAPlace(0)")


class IPUPlace:
    """Raises DeviceError: Graphcore's IPUs are not used. Paddle without them ends the process."""

    def __init__(self) -> None:
        raise DeviceError("IPUPlace: IPUs are not used here; use CPUPlace() or CUDAPlace(0)")
