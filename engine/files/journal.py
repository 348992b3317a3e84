"""A run's journal: ``journal.jsonl``, one event a line while it runs, and ``run.h5``, packed from it as
columns.

An event is a dict with text keys; ``"event"`` names its sort, such as ``{"event": "step", "step": 12, "loss":
2.3}``. JSON has no NaN and no infinity: they are written as the texts ``"NaN"``, ``"Infinity"`` and
``"-Infinity"``, so that every JSON reader takes the line, and :func:`read_journal` turns exactly these three
texts back into numbers.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import DataError, DTypeError, FormatError
from engine.files.atomic import saving
from engine.files.container import read_container, write_container

JOURNAL_NAME = "journal.jsonl"
PACKED_NAME = "run.h5"
KIND = "run"
VERSION = 1
_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True)
class Journal:
    """The events of a journal, in order; ``notes`` say which lines could not be read and why."""

    events: list[dict[str, Any]]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class RunRecord:
    """A run as columns.

    ``columns["step"]["loss"]`` has one number for every event of the sort ``step`` (NaN where an event lacks
    it or has None); numbers that are integers in every such event are int64, else float64. ``events`` are, in
    order, the events that hold more than numbers. ``notes`` as in :class:`Journal`.
    """

    columns: dict[str, dict[str, NDArray[Any]]]
    events: list[dict[str, Any]]
    notes: tuple[str, ...]


class JournalWriter:
    """Appends events to a journal, each line given to the system at once, so that a crash loses none.

    A last line that a full disk or a power cut left torn is cut off on opening; ``cut`` then holds its bytes.

    Raises:
        SaveError: the journal can't be opened or written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.cut = b""
        with saving(self.path):
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            self._descriptor: int | None = os.open(self.path, flags, 0o666)
            try:
                self._mend()
            except BaseException:
                self.close()
                raise

    def _mend(self) -> None:
        if self._descriptor is None:
            return
        end = start = os.lseek(self._descriptor, 0, os.SEEK_END)
        tail = b""
        while start > 0 and b"\n" not in tail:
            step = min(start, 65536)
            start -= step
            os.lseek(self._descriptor, start, os.SEEK_SET)
            tail = os.read(self._descriptor, step) + tail
        torn = tail.rpartition(b"\n")[2]
        if not torn:
            return
        try:
            json.loads(torn)
            os.write(self._descriptor, b"\n")
        except (ValueError, RecursionError):
            os.ftruncate(self._descriptor, end - len(torn))
            self.cut = torn

    def write(self, event: Mapping[str, Any]) -> None:
        """Appends one event: numbers, text, None, lists and dicts, NumPy scalars and arrays (as lists).

        Raises:
            SaveError: the line could not be written whole.
            DTypeError: a value that JSON can't hold.
        """
        data = event_line(event).encode("ascii") + b"\n"
        with saving(self.path):
            if self._descriptor is None:
                raise OSError("the journal is closed")
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:
                # What a full disk took of the line would spoil the next one.
                self._mend()
                raise

    def sync(self) -> None:
        """Returns when everything written is on the disk."""
        with saving(self.path):
            if self._descriptor is not None:
                os.fsync(self._descriptor)

    def close(self) -> None:
        """Closes the file; closing twice is harmless."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def event_line(event: Mapping[str, Any]) -> str:
    """An event as the line that the journal holds, without the line's end: ASCII, strict JSON.

    Raises:
        DTypeError: a value that JSON can't hold.
    """
    return json.dumps(_plain(event, "event"), ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _plain(value: Any, place: str) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise DTypeError(
                    f"journal: {place} has the key {key!r} of type {type(key).__name__}; use text as keys"
                )
        return {key: _plain(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{place}[{index}]") for index, item in enumerate(value)]
    raise DTypeError(
        f"journal: {place} is of type {type(value).__name__}; use numbers, text, lists and dicts"
    )


def _restored(value: Any) -> Any:
    if isinstance(value, str):
        return _NUMBERS.get(value, value)
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if isinstance(value, dict):
        return {key: _restored(item) for key, item in value.items()}
    return value


def read_journal(path: str | os.PathLike[str]) -> Journal:
    """All events that can be read; a torn last line (the writer was killed) and damaged lines are noted, not
    fatal.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: none of its lines is an event.
    """
    return _parse(_journal_bytes(Path(path)), Path(path))


def _journal_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as cause:
        raise DataError(f"{path}: there is no such file; choose the folder of a run") from cause
    except OSError as cause:
        raise DataError(
            f"{path}: can't be read: {cause.strerror or cause}; check your permissions on it"
        ) from cause


def _parse(data: bytes, path: Path) -> Journal:
    events: list[dict[str, Any]] = []
    notes = []
    lines = data.split(b"\n")
    last = len(lines) if lines[-1] else len(lines) - 1
    for number, line in enumerate(lines[:last], 1):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as cause:
            torn = number == len(lines)
            what = "the last line is torn, its writer was stopped" if torn else f"no JSON: {cause}"
            notes.append(f"{path}: line {number} skipped: {what}")
            continue
        if isinstance(event, dict):
            events.append(_restored(event))
        else:
            notes.append(f"{path}: line {number} skipped: not an event but {event!r:.40}")
    # A run that was killed within its first line has a journal, empty as it is; a file of other content has
    # not.
    if len(notes) > 1 and not events:
        raise FormatError(
            f"{path}: not a journal: none of its {last} lines is an event; choose the folder of a run"
        )
    return Journal(events, tuple(notes))


def pack_run(folder: str | os.PathLike[str]) -> Path:
    """Packs the journal in ``folder`` into ``run.h5``, atomically; returns its path.

    Raises:
        DataError, FormatError: the journal can't be read.
        SaveError: ``run.h5`` could not be written; the one before is unchanged.
    """
    journal = Path(folder, JOURNAL_NAME)
    data = _journal_bytes(journal)
    record = _record(_parse(data, journal))
    path = Path(folder, PACKED_NAME)
    tree = {"columns": record.columns, "events": record.events, "notes": list(record.notes)}
    write_container(path, KIND, VERSION, tree | {"journal_bytes": len(data)})
    return path


def read_run(folder: str | os.PathLike[str]) -> RunRecord:
    """The run in ``folder``: from ``run.h5`` where that covers the whole journal (or the journal is gone),
    else from the journal, which a crash leaves ahead of ``run.h5``.

    Raises:
        DataError: neither is there, or they can't be read.
        FormatError: damaged or foreign.
    """
    journal, packed = Path(folder, JOURNAL_NAME), Path(folder, PACKED_NAME)
    if not packed.exists():
        return _record(read_journal(journal))
    length = journal.stat().st_size if journal.exists() else None
    try:
        tree = read_container(packed, KIND, VERSION)
        if length is None or tree["journal_bytes"] == length:
            return RunRecord(_checked_columns(tree["columns"]), list(tree["events"]), tuple(tree["notes"]))
    except FormatError as error:
        if length is None:
            raise
        record = _record(read_journal(journal))
        return RunRecord(record.columns, record.events, (*record.notes, str(error)))
    except (KeyError, TypeError) as cause:
        raise FormatError(
            f"{packed}: not a run: {cause}; remove it, the journal beside it holds the run"
        ) from cause
    return _record(read_journal(journal))


def _checked_columns(columns: Any) -> dict[str, dict[str, NDArray[Any]]]:
    for table in columns.values():
        if len({column.shape for column in table.values()}) > 1:
            raise TypeError("columns of different lengths")
    return dict(columns)


def _record(journal: Journal) -> RunRecord:
    tables: dict[str, list[dict[str, Any]]] = {}
    rest = []
    for event in journal.events:
        tables.setdefault(str(event.get("event", "")), []).append(event)
        others = (value for name, value in event.items() if name != "event" and value is not None)
        if not all(map(_is_number, others)):
            rest.append(event)
    columns = {}
    for sort, events in tables.items():
        names = dict.fromkeys(name for event in events for name, value in event.items() if _is_number(value))
        if names:
            columns[sort] = {name: _column(event.get(name) for event in events) for name in names}
    return RunRecord(columns, rest, journal.notes)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, float) or (isinstance(value, int) and value in _INT64)


def _column(values: Iterable[Any]) -> NDArray[Any]:
    numbers = [value if _is_number(value) else math.nan for value in values]
    return np.array(numbers, "int64" if all(isinstance(number, int) for number in numbers) else "float64")
