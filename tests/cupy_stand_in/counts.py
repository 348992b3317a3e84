"""Counts of a program's use of the device: launches of kernels, copies, and waits."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


@dataclass
class Counts:
    """Numbers since the block began; ``places`` counts them by lines of the program."""

    launches: int = 0
    to_device: int = 0
    to_host: int = 0
    waits: int = 0
    pinned: int = 0  # of the copies, those that run while the host continues
    places: Counter[tuple[str, str]] = field(default_factory=Counter)

    def lines(self, *kinds: str) -> str:
        """The lines that caused events of these kinds, most frequent first, for messages."""
        return "\n".join(
            f"{count:5d} {kind} {place}"
            for (kind, place), count in self.places.most_common()
            if kind in kinds
        )


_open: list[Counts] = []


@contextmanager
def counted() -> Iterator[Counts]:
    """Count events within the block."""
    counts = Counts()
    _open.append(counts)
    try:
        yield counts
    finally:
        _open.remove(counts)


def launch() -> None:
    """A kernel was launched; it runs when it runs."""
    for counts in _open:
        counts.launches += 1


def to_device(pinned: bool = False) -> None:
    """An array was copied from the host. From memory that is not pinned the host waits for it."""
    _note("to_device")
    if pinned:
        _note("pinned")


def to_host(pinned: bool = False) -> None:
    """An array was copied to the host; unless it is pinned memory, it waited for all that came before."""
    _note("to_host")
    _note("pinned" if pinned else "waits")


def wait() -> None:
    """The host waited for the device."""
    _note("waits")


def _note(kind: str) -> None:
    if not _open:
        return
    place = _place()
    for counts in _open:
        setattr(counts, kind, getattr(counts, kind) + 1)
        counts.places[kind, place] += 1


def _place() -> str:
    for frame in reversed(traceback.extract_stack()):
        if not frame.filename.startswith(str(HERE)):
            return f"{frame.filename}:{frame.lineno} {frame.line}"
    return "?"
