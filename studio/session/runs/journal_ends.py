"""The events at both ends of a run's journal, checked before a list shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from resources.json_documents import DocumentError, parse
from resources.regular_files import open_regular

_END_BYTES = 65536
_COUNTS = ("step", "epoch", "total_steps")
_NUMBERS = (
    *("time", "validation_loss", "seconds"),
    *("validation_accuracy", "best_accuracy", "validation_r2", "validation_mae", "best_r2"),
)
MOST_COUNTED = 10**18
_LATEST = 2.0**37  # seconds from 1970 to beyond the year 6000, which every clock can show


def ends_of(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The events in the first and the last part of a journal, and how many of the lines there are damaged; a
    run of a million steps is no slower to list."""
    try:
        with open_regular(path) as file:
            head = file.read(_END_BYTES)
            size = file.seek(0, 2)
            tail = b""
            if size > 2 * _END_BYTES:
                # Both parts end within a line, which is not damaged.
                file.seek(size - _END_BYTES)
                tail = file.read().partition(b"\n")[2]
                head = head.rpartition(b"\n")[0]
            elif size > _END_BYTES:
                file.seek(0)
                head = file.read()
    except OSError:
        return [], 0
    # What follows the last line end is a line that its writer was stopped in, or is writing now.
    *lines, last = (head + b"\n" + tail if tail else head).split(b"\n")
    found = [_event(line) for line in lines if line]
    events = [event for event in (*found, _event(last)) if event is not None]
    return events, found.count(None)


def _event(line: bytes) -> dict[str, Any] | None:
    """The event on a line, with sound values in the fields that a list shows; None for a damaged line."""
    try:
        event = parse(line)
    except DocumentError:
        return None
    return event if isinstance(event, dict) and _is_sound(event) else None


def _is_sound(event: dict[str, Any]) -> bool:
    counts = [event[name] for name in _COUNTS if name in event]
    return (
        isinstance(event.get("event"), str)
        and all(type(count) is int and 0 <= count <= MOST_COUNTED for count in counts)
        and all(_is_number(event[name]) for name in _NUMBERS if name in event)
        and abs(float(event.get("time", 0.0))) <= _LATEST
        and isinstance(event.get("config", {}), dict)
    )


def _is_number(value: Any) -> bool:
    """Whether this is a number as a journal has it; what JSON can't hold is a text there."""
    if isinstance(value, str):
        return value in ("NaN", "Infinity", "-Infinity")
    return isinstance(value, float) or (type(value) is int and abs(value) <= MOST_COUNTED)
