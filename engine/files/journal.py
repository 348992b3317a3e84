"""The journal of a run: ``journal.jsonl``, one event on each line, and ``run.h5``, its columns.

An event is a JSON object; ``"event"`` names its kind, such as ``{"event": "step", "step": 12, "loss": 2.3}``.
JSON has no NaN and no infinity. They are written as the texts ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``,
so that every JSON reader accepts the line, and :func:`read_journal` turns exactly these texts into numbers.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeAlias, TypedDict, TypeGuard, cast

import numpy as np

from engine.core.errors import AbsentError, DataError, DTypeError, FormatError, NewerVersionError
from engine.files.atomic import saving
from engine.files.native.container import is_own_container, read_container, write_container
from engine.files.plain import Array, Json, StrPath
from engine.files.reading import read_error
from resources.journal_version import JOURNAL_VERSION, newer_journal_version
from resources.json_documents import DocumentError, parse, require_modest
from resources.regular_files import open_regular, require_regular
from resources.replacing import sync_folder

JOURNAL_NAME = "journal.jsonl"
PACKED_NAME = "run.h5"
KIND = "run"
VERSION = 1
_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
MAX_COUNT = 10**18  # of steps; the names of checkpoints have 18 digits
_LARGEST = int(sys.float_info.max)
_INT64 = range(-(2**63), 2**63)

JournalEvent: TypeAlias = dict[str, Json]
"""One line of a journal; ``resources.training_events`` has the fields of the kinds that a training writes."""
Columns: TypeAlias = dict[str, dict[str, Array]]
"""Numbers by kind of event and by field, each an array with one element for every event of the kind."""


class PackedRun(TypedDict):
    """The tree of ``run.h5``; ``journal_bytes`` is the length of the journal from which it was packed."""

    columns: Columns
    events: list[JournalEvent]
    notes: list[str]
    journal_bytes: int


@dataclass(frozen=True)
class Journal:
    """The events of a journal, in order; ``notes`` name the lines that could not be read and the reasons."""

    events: list[JournalEvent]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class RunRecord:
    """A run as columns.

    ``columns["step"]["loss"]`` has one number for every event of the kind ``step``, NaN where an event lacks
    the field or has None. A column of integers only is int64, else float64. ``events`` are, in order, the
    events that hold more than numbers. ``notes`` as in :class:`Journal`.
    """

    columns: Columns
    events: list[JournalEvent]
    notes: tuple[str, ...]


class JournalWriter:
    """Appends events to a journal; each line is passed to the system at once, so that a crash loses none.

    An incomplete last line, left by a full disk or a power failure, is removed on opening; ``cut`` holds its
    bytes.

    Raises:
        SaveError: the journal can't be opened or written.
    """

    def __init__(self, path: StrPath) -> None:
        self.path = Path(path)
        self.cut = b""
        self._part = -1  # where a line begins that is not whole yet
        with saving(self.path):
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe in its place is not waited for
            new = not self.path.exists()
            self._descriptor: int | None = os.open(self.path, flags, 0o666)
            try:
                require_regular(self.path, os.fstat(self._descriptor))
                if new:
                    sync_folder(self.path.parent)
                self._repair()
            except BaseException:
                self.close()
                raise

    def _repair(self) -> None:
        if self._descriptor is None:
            return
        end = start = os.lseek(self._descriptor, 0, os.SEEK_END)
        parts: list[bytes] = []
        while start > 0 and not (parts and b"\n" in parts[-1]):
            step = min(start, 65536)
            start -= step
            os.lseek(self._descriptor, start, os.SEEK_SET)
            parts.append(os.read(self._descriptor, step))
        torn = b"".join(reversed(parts)).rpartition(b"\n")[2]
        if not torn:
            return
        try:
            parse(torn)
            os.write(self._descriptor, b"\n")
        except DocumentError:
            os.ftruncate(self._descriptor, end - len(torn))
            self.cut = torn

    def write(self, event: Mapping[str, object]) -> None:
        """Append one event: numbers, text, None, lists and dicts, NumPy scalars, and arrays as lists.

        Raises:
            SaveError: the line could not be written completely.
            DTypeError: a value that JSON can't hold.
        """
        data = event_line(event).encode("ascii") + b"\n"
        with saving(self.path):
            if self._descriptor is None:
                raise OSError("the journal is closed")
            self._remove_part(self._descriptor)
            self._part = os.lseek(self._descriptor, 0, os.SEEK_END)
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except BaseException:
                # The part that a full disk accepted would corrupt the next line, or give the event twice.
                # Where it can't be removed now, the next call tries again.
                with suppress(OSError):
                    self._remove_part(self._descriptor)
                raise
            self._part = -1

    def _remove_part(self, descriptor: int) -> None:
        if self._part >= 0:
            os.ftruncate(descriptor, self._part)
            self._part = -1

    def sync(self) -> None:
        """Wait until all written events are on the disk. Raises SaveError."""
        with saving(self.path):
            if self._descriptor is not None:
                os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file; closing it twice does nothing.

        Raises SaveError where the system reports only now that something was not written.
        """
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with saving(self.path):
                os.close(descriptor)

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def event_line(event: Mapping[str, object]) -> str:
    """An event as a line of the journal, in ASCII and strict JSON, without the end of the line.

    Raises DTypeError for a value that JSON can't hold.
    """
    return json.dumps(_plain(event, "event"), ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _plain(value: object, place: str) -> Json:
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist(), place)
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


def _restored(value: Json) -> Json:
    if isinstance(value, str):
        return _NUMBERS.get(value, value)
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if isinstance(value, dict):
        return {key: _restored(item) for key, item in value.items()}
    if isinstance(value, int) and abs(value) > _LARGEST:  # float() would raise; 1e400 is infinity too
        return math.inf if value > 0 else -math.inf
    return value


def parse_event(line: bytes) -> JournalEvent:
    """The event on a line of a journal. Raises FormatError, without the file, for anything else.

    A step or an epoch is counted from 0; resuming from a journal relies on it.
    """
    try:
        event: Json = parse(line, parse_constant=_no_number)
        if isinstance(event, dict):
            for name in ("step", "epoch"):
                count = event.get(name, 0)
                if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MAX_COUNT:
                    raise FormatError(f"not an event: its {name} is {count!r:.40}")
            return {name: _restored(value) for name, value in event.items()}
    except DocumentError as cause:
        raise FormatError(str(cause)) from cause
    raise FormatError(f"not an event but {event!r:.40}")


def require_known(event: JournalEvent, path: Path) -> None:
    """Raises NewerVersionError for the start of a run that a newer version of Model Studio recorded."""
    version = newer_journal_version(event)
    if version is not None:
        raise NewerVersionError(
            f"{path}: written by a newer version of Model Studio: journal version {version}, this build "
            f"reads up to {JOURNAL_VERSION}; update Model Studio"
        )


def _no_number(text: str) -> Json:
    raise DocumentError(f"not JSON: {text} is not a number of JSON")


def read_journal(path: StrPath) -> Journal:
    """The events of a journal; an incomplete last line and damaged lines are skipped and noted.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: none of its lines is an event. NewerVersionError: a newer version wrote it.
    """
    return _parse(_journal_bytes(Path(path)), Path(path))


def _journal_bytes(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read()
    except FileNotFoundError as cause:
        raise DataError(f"{path}: there is no such file; choose the folder of a run") from cause
    except OSError as cause:
        raise read_error(path, cause) from cause


def _parse(data: bytes, path: Path) -> Journal:
    try:
        require_modest(data)
    except DocumentError as cause:
        raise FormatError(
            f"{path}: not a journal that a training writes: {cause}; choose the folder of another run"
        ) from cause
    events: list[JournalEvent] = []
    notes: list[str] = []
    lines = data.split(b"\n")
    last = len(lines) if lines[-1] else len(lines) - 1
    for number, line in enumerate(lines[:last], 1):
        try:
            event = parse_event(line)
        except FormatError as cause:
            torn = number == len(lines)
            what = "the last line is incomplete, its writer was stopped" if torn else cause
            notes.append(f"{path}: line {number} skipped: {what}")
            continue
        require_known(event, path)
        events.append(event)
    # One bad line may be the first line of a run that was killed while it wrote it; several are another file.
    if len(notes) > 1 and not events:
        raise FormatError(
            f"{path}: not a journal: none of its {last} lines is an event; choose the folder of a run"
        )
    return Journal(events, tuple(notes))


def pack_run(folder: StrPath) -> Path:
    """Pack the journal in ``folder`` into ``run.h5``, atomically; returns the path of ``run.h5``.

    Raises:
        DataError, FormatError: the journal can't be read.
        SaveError: ``run.h5`` could not be written; an existing one is unchanged.
    """
    journal = Path(folder, JOURNAL_NAME)
    data = _journal_bytes(journal)
    record = _record(_parse(data, journal))
    path = Path(folder, PACKED_NAME)
    tree: PackedRun = {
        "columns": record.columns,
        "events": record.events,
        "notes": list(record.notes),
        "journal_bytes": len(data),
    }
    write_container(path, KIND, VERSION, tree)
    return path


def read_run(folder: StrPath) -> RunRecord:
    """The run in ``folder``, from ``run.h5`` or from the journal.

    ``run.h5`` is read if it covers the whole journal or there is no journal. Otherwise the journal is read; a
    crash leaves it longer than ``run.h5`` knows. So it is if another installation wrote ``run.h5``: a child
    process would have to check that file first, for which the window would wait.

    Raises:
        DataError: neither exists, or they can't be read.
        FormatError: damaged or foreign.
    """
    journal, packed = Path(folder, JOURNAL_NAME), Path(folder, PACKED_NAME)
    if not packed.exists():
        return _record(read_journal(journal))
    length = journal.stat().st_size if journal.exists() else None
    try:
        if length is not None and not is_own_container(packed):
            return _record(read_journal(journal))
        tree = _packed_run(read_container(packed, KIND, VERSION), packed)
        for event in tree["events"]:
            require_known(event, journal)
    except AbsentError:  # another process has just removed it: the journal may still be there
        return _record(read_journal(journal))
    except FormatError as error:
        if length is None:
            raise
        record = _record(read_journal(journal))
        return RunRecord(record.columns, record.events, (*record.notes, str(error)))
    if length is None or tree["journal_bytes"] == length:
        return RunRecord(tree["columns"], tree["events"], tuple(tree["notes"]))
    return _record(read_journal(journal))


def _packed_run(tree: object, path: Path) -> PackedRun:
    """The tree of ``run.h5`` at ``path``. Raises FormatError for another structure."""
    fields = tree if isinstance(tree, dict) else {}
    columns, events, notes = fields.get("columns"), fields.get("events"), fields.get("notes")
    length = fields.get("journal_bytes")
    wrong = [
        name
        for name, sound in (
            ("columns", _are_columns(columns)),
            ("events", isinstance(events, list) and all(isinstance(event, dict) for event in events)),
            ("notes", isinstance(notes, list) and all(isinstance(note, str) for note in notes)),
            ("journal_bytes", isinstance(length, int)),
        )
        if not sound
    ]
    if wrong:
        raise FormatError(
            f"{path}: not a run: wrong or missing are {', '.join(wrong)}; remove it, the journal next to it "
            "holds the run"
        )
    return cast("PackedRun", tree)


def _are_columns(columns: object) -> TypeGuard[Columns]:
    """Whether these are tables of columns, the columns of each table of one length."""
    return isinstance(columns, dict) and all(
        isinstance(table, dict)
        and all(isinstance(column, np.ndarray) and column.ndim == 1 for column in table.values())
        and len({column.shape for column in table.values()}) <= 1
        for table in columns.values()
    )


def _record(journal: Journal) -> RunRecord:
    tables: dict[str, list[JournalEvent]] = {}
    rest: list[JournalEvent] = []
    for event in journal.events:
        tables.setdefault(str(event.get("event", "")), []).append(event)
        others = (value for name, value in event.items() if name != "event" and value is not None)
        if not all(map(_is_number, others)):
            rest.append(event)
    columns: Columns = {}
    for kind, events in tables.items():
        names = dict.fromkeys(name for event in events for name, value in event.items() if _is_number(value))
        if names:
            columns[kind] = {name: _column(event.get(name) for event in events) for name in names}
    return RunRecord(columns, rest, journal.notes)


def _is_number(value: Json) -> TypeGuard[int | float]:
    """Whether a column can hold the value."""
    if isinstance(value, bool):
        return False
    return isinstance(value, float) or (isinstance(value, int) and value in _INT64)


def _column(values: Iterable[Json]) -> Array:
    numbers = [value if _is_number(value) else math.nan for value in values]
    return np.array(numbers, "int64" if all(isinstance(number, int) for number in numbers) else "float64")
