"""JournalTail: what a training writes into its journal, sent from a worker while it trains."""

from __future__ import annotations

import math
from pathlib import Path

from resources.regular_files import open_regular

MOST_SENT = 24_000
"""Bytes at once. The scheduler stores the last 1,000 messages of a sweep: 24 MB at most."""
_MOST_READ = 4_000_000
_STEP, _STARTED = b'"event":"step"', b'"event":"started"'


class JournalTail:
    """The lines that a journal gets after this was created; another process writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = self._size()

    def read(self) -> str:
        """The complete lines since the last time, thinned where they are many; empty without new ones."""
        size = self._size()
        if size < self._offset:  # a resumed training removes what its checkpoint does not know
            self._offset = size
        try:
            with open_regular(self._path) as file:
                file.seek(self._offset)
                data = file.read(_MOST_READ)
        except OSError:
            return ""
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole) or (len(data) if len(data) == _MOST_READ else 0)
        return b"".join(thinned(whole.splitlines(keepends=True), MOST_SENT)).decode("utf-8", "replace")

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return 0


def thinned(lines: list[bytes], most: int) -> list[bytes]:
    """Lines of ``most`` bytes together: the start of a run, and every n-th of the steps and of the rest, with
    the last ones among them. Longer ones than half of that are omitted."""
    kept = [place for place, line in enumerate(lines) if _STARTED in line]
    steps = [place for place, line in enumerate(lines) if _STEP in line]
    rest = [place for place, line in enumerate(lines) if _STEP not in line and _STARTED not in line]
    for places in (steps, rest):
        room = most // 2
        places = [place for place in places if len(lines[place]) <= room]
        length = sum(len(lines[place]) for place in places)
        each = max(1, math.ceil(length / room))
        for place in places[::-1][::each]:
            if len(lines[place]) <= room:
                kept.append(place)
                room -= len(lines[place])
    return [lines[place] for place in sorted(kept)]
