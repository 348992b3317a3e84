"""The launcher's end of the pipes to its processes: their output and events, and that it is still running."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from engine.distributed.launch.guard import EVENTS, LIFE

LINES = 20
_CHUNK = 1 << 16
_FIELDS = frozenset(
    frozenset(fields)
    for fields in (
        ("pid", "group"),
        ("pid", "rank"),
        ("rank", "waits"),
        ("rank", "waits", "call"),
        ("rank", "status"),
        ("pid", "code"),
        ("lost",),
    )
)
"""What each kind of event has."""
_LARGEST = 1 << 32


def _is_integer(value: object, least: int = -_LARGEST) -> bool:
    return type(value) is int and least <= value <= _LARGEST


# A process or group below 2 would be the launcher's own, or every one.
_KINDS: dict[str, Callable[[Any], bool]] = {
    "pid": lambda value: _is_integer(value, 2),
    "group": lambda value: _is_integer(value, 2),
    "rank": lambda value: _is_integer(value, 0),
    "status": _is_integer,
    "code": _is_integer,
    "waits": lambda value: type(value) in (int, float) and 0 <= value <= _LARGEST,
    "lost": lambda value: type(value) is str and len(value) <= _CHUNK,
    "call": lambda value: type(value) is str and len(value) <= _CHUNK,
}


class Channel:
    """A folder of named pipes, for this user alone, that is removed by ``close``.

    They hold what a process wrote until it is read here, also after the process was killed; what goes through
    mpiexec can be lost then.
    """

    def __init__(self, processes: int, outputs: bool) -> None:
        self.folder = tempfile.mkdtemp(prefix="model-studio-launch-")
        self._selector = selectors.DefaultSelector()
        self._open: list[int] = []
        self._rest: dict[Any, bytes] = {}
        try:
            self._add(EVENTS, (EVENTS, 0))
            os.mkfifo(Path(self.folder) / LIFE)
            self._open.append(os.open(Path(self.folder) / LIFE, os.O_RDWR))
            for rank in range(processes if outputs else 0):
                self._add(f"out.{rank}", ("out", rank))
                self._add(f"err.{rank}", ("err", rank))
        except BaseException:
            self.close()
            raise

    def _add(self, name: str, key: tuple[str, int]) -> None:
        path = Path(self.folder) / name
        os.mkfifo(path, 0o600)
        # Open for writing too: there is no end of the file when a process has gone and another has not come.
        pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._open.append(pipe)
        self._selector.register(pipe, selectors.EVENT_READ, key)

    def watch(self, stream: IO[bytes], name: str) -> None:
        """Read ``stream`` of mpiexec too, under ``name``."""
        os.set_blocking(stream.fileno(), False)
        self._selector.register(stream.fileno(), selectors.EVENT_READ, (name, 0))

    def read(self, seconds: float) -> list[tuple[str, int, bytes]]:
        """What has come, as (pipe or stream, rank, bytes); waits so long for the first."""
        found = []
        for key, _ in self._selector.select(seconds):
            try:
                data = os.read(key.fd, _CHUNK)
            except BlockingIOError:
                continue
            if data:
                found.append((*key.data, data))
            else:  # a stream of mpiexec, whose end is closed
                self._selector.unregister(key.fd)
        return found

    def events(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The events of what came from the pipe ``events``, whose last line may not be there yet.

        A rank can write into that pipe too: a line that is not an event is skipped.
        """
        *lines, rest = (self._rest.get(EVENTS, b"") + data).split(b"\n")
        self._rest[EVENTS] = rest if len(rest) <= _CHUNK else b""
        for line in lines:
            event = event_of(line)
            if event is not None:
                yield event

    def close(self) -> None:
        """Close the pipes, which ends processes that are still there, and remove them."""
        self._selector.close()
        for pipe in self._open:
            os.close(pipe)
        self._open = []
        shutil.rmtree(self.folder, ignore_errors=True)


def event_of(line: bytes) -> dict[str, Any] | None:
    """The event in a line of the pipe ``events``; None where it is none that ``guard.send_event`` writes."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or frozenset(event) not in _FIELDS:
        return None
    return event if all(_KINDS[name](value) for name, value in event.items()) else None


class LastLines:
    """The last lines of what one process printed."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=LINES)
        self._rest = b""

    def add(self, data: bytes) -> None:
        """Take more of it."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines.extend(lines)

    def text(self) -> str:
        """Them, without a line break at the end."""
        lines = [*self._lines, self._rest] if self._rest else list(self._lines)
        return b"\n".join(lines[-LINES:]).decode("utf-8", "backslashreplace").strip("\r\n")
