"""The output of ranks that mpiexec passes on in pieces, put together to whole lines of each rank.

mpiexec puts a mark in front of each piece that it has read, which need not be a line, and of each line in it.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress

PATTERN = "\x1e%r\x1f"
"""The mark, as ``mpiexec -prepend-pattern`` takes it; no text has these characters."""
EVENT = "\x1d"
"""In front of an event among the lines of a rank that has no pipe to the launcher."""
EVENTS_IN_LINES = "MODEL_STUDIO_EVENTS_IN_LINES"
"""The variable of a job whose ranks send their events so."""
_MARK = re.compile(rb"\x1e(\d{1,9})\x1f")
_BEGUN = re.compile(rb"\x1e\d{0,9}\Z")
_PIECE = re.compile(rb"\x1e\d{1,9}\x1f|[^\n\x1e]+|\n|\x1e")
_LONGEST = 1 << 20  # of a line; a longer one is passed on in parts


def send_event_line(descriptor: int, **event: object) -> None:
    """Send an event to a launcher that reads the lines of this rank."""
    with suppress(OSError):  # it has exited
        os.write(descriptor, f"{EVENT}{json.dumps(event)}\n".encode())


def split_event(line: bytes) -> tuple[bytes, bytes]:
    """The text in front of an event, and the event's own."""
    text, _, event = line.partition(EVENT.encode())
    return text, event


class Forwarded:
    """One stream of mpiexec."""

    def __init__(self) -> None:
        self._tail = b""
        self._begun: dict[int | None, bytes] = {}
        self._rank: int | None = None

    def lines(self, data: bytes) -> list[tuple[int | None, bytes]]:
        """The lines that ``data`` completes, each with its rank; None for what mpiexec prints itself."""
        data = self._tail + data
        cut = _BEGUN.search(data)
        data, self._tail = (data[: cut.start()], cut[0]) if cut else (data, b"")
        found = []
        for piece in _PIECE.findall(data):
            if mark := _MARK.fullmatch(piece):
                self._rank = int(mark[1])
                continue
            line = self._begun.pop(self._rank, b"") + piece
            if piece == b"\n" or len(line) > _LONGEST:
                found.append((self._rank, line))
            else:
                self._begun[self._rank] = line
            if piece == b"\n":
                self._rank = None
        return found

    def rest(self) -> list[tuple[int | None, bytes]]:
        """The lines that have no end."""
        if self._tail:
            self._begun[self._rank] = self._begun.get(self._rank, b"") + self._tail
        found = list(self._begun.items())
        self._begun, self._tail = {}, b""
        return found
