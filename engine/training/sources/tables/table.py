"""CSV files as samples: the inputs of each row as one vector, and its target; large files stay on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import DataError, FormatError
from engine.files.data.stored_file import ShorterError, StoredFile, shorter_error
from engine.files.reading import read_error
from engine.training.sources.options import DataOptions
from engine.training.sources.rows import TableRows
from engine.training.sources.spec import Column
from engine.training.sources.tables.columns import ColumnScan, target_columns, typed_columns
from engine.training.sources.tables.lines import CsvLines
from engine.training.sources.tables.rows import RowParser
from engine.training.sources.tables.stored import stored_columns
from engine.training.sources.tables.values import MISSING, as_number, is_missing
from engine.training.sources.targets import FEW_INTEGERS, Answers, read_answers
from resources.settings.data import STORED

IN_MEMORY = 512 << 20
"""A file up to this size is held in memory as numbers; of a larger one only where its rows are."""


RETAINED = 1 << 20
"""A file from this size on is not read again where it did not change."""
_SETTLED = 2.0
"""Seconds after which a further change of a file has another time."""


@dataclass(frozen=True)
class CsvData:
    """A CSV file as it is fed: its columns, what is to be predicted, and the rows."""

    columns: tuple[Column, ...]
    answers: Answers
    rows: TableRows
    groups: Callable[[str], np.ndarray]


def open_csv(path: Path, options: DataOptions) -> CsvData:
    """Read a CSV file, with a header or without; the one that this process read last is not read again unless
    it
    changed.

    Raises:
        TargetNeeded: the target is not known. DataError: it can't be read, or the target does not fit.
        FormatError: no table: lines too long, rows of different length, or texts among the numbers.
    """
    if options.kind == "images":
        raise DataError(f"{path}: the rows of a CSV file can't be images; choose kind table or sequences")
    version = _version_of(path, options)
    if _last_read is not None and version is not None and _last_read[0] == version:
        return _last_read[1]
    data = _read_anew(path, options)
    if version is not None and version == _version_of(path, options):
        _retain(version, data)
    return data


def _version_of(path: Path, options: DataOptions) -> tuple[Any, ...] | None:
    """What a table depends on: the file's state and the settings about columns. None for a file that is
    small, or
    so large that its rows are not in memory, or was changed just now: another change might not show in its
    time.
    """
    try:
        found = path.stat()
    except OSError:
        return None
    if not RETAINED <= found.st_size <= IN_MEMORY or time.time() - found.st_mtime < _SETTLED:
        return None
    settings = (options.kind, options.task, options.label_name, options.exclude, options.include)
    return (
        str(path.resolve()),
        *(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns),
        *settings,
        *(options.date_order, options.split),
    )


_last_read: tuple[tuple[Any, ...], CsvData] | None = None


def _retain(version: tuple[Any, ...], data: CsvData) -> None:
    global _last_read
    _last_read = version, data


def _read_anew(path: Path, options: DataOptions) -> CsvData:
    stored = options.kind == STORED
    try:
        wanted = [options.label_name, *(part.strip() for part in options.label_name.split(","))]
        lines = CsvLines(path, stored, wanted)
        if stored:
            columns = stored_columns(path, lines, options.label_name)
        else:
            scans = [ColumnScan(lines.commas) for _ in lines.names]
            for block in lines.blocks():
                for scan, texts in zip(scans, zip(*block.rows, strict=True), strict=True):
                    scan.add(texts, block.first)
            if not scans[0].rows:
                raise FormatError(f"{path}: there are no rows below the header; give some")
            targets = target_columns(path, lines.names, scans, options.label_name)
            columns = typed_columns(path, lines.names, scans, targets, options)
        return _read(path, lines, columns, options)
    except OSError as error:
        if isinstance(error, DataError):
            raise
        raise read_error(path, error) from error


def _read(path: Path, lines: CsvLines, columns: tuple[Column, ...], options: DataOptions) -> CsvData:
    stored = options.kind == STORED
    table = CsvTable(lines, columns)
    answers = read_answers(
        str(path),
        [table.answers],
        options.task,
        [column.name for column in columns if column.role == "target"],
        FEW_INTEGERS,
        varied=not stored,
    )
    words = [column.name for column in columns if column.role == "input" and column.words]
    if options.kind == "sequences" and words:
        raise DataError(
            f"{path}: columns of words can't be steps of a sequence: {', '.join(words[:12])}; exclude them, "
            "or choose kind table"
        )
    del table.answers
    rows = TableRows(table, answers.labels[0], path.name, options.kind, answers.targets_of(0))
    return CsvData(columns, answers, rows, table.groups)


class CsvTable:
    """The rows of a CSV file: ``take`` gives the inputs as float32, NaN where a number is missing.

    ``answers`` is the target of each row: numbers [n] or [n, k], or texts.
    """

    dtype: np.dtype[Any] = np.dtype(np.float32)

    def __init__(self, lines: CsvLines, columns: tuple[Column, ...]) -> None:
        self._lines = lines
        self._inputs = [(place, column) for place, column in enumerate(columns) if column.role == "input"]
        self._targets = [place for place, column in enumerate(columns) if column.role == "target"]
        if not self._inputs:
            reasons = "; ".join(f"{each.name}: {each.reason}" for each in columns if each.reason)
            raise FormatError(
                f"{lines.path}: no column holds inputs: {', '.join(lines.names[:12])} ({reasons[:300]}); "
                "give some, or --include one"
            )
        self._parser = RowParser(str(lines.path), self._inputs, lines.commas)
        file = StoredFile(lines.path)
        in_memory = file.length <= IN_MEMORY
        self._file = None if in_memory else file
        blocks: list[np.ndarray] = []
        places: list[np.ndarray] = []
        texts: list[list[str]] = [[] for _ in self._targets]
        known: dict[str, str] = {}
        for block in lines.blocks():
            parsed = self._parser.parse(block.rows, range(block.first, block.first + len(block.rows)))
            if in_memory:
                blocks.append(parsed)
            else:
                places.append(lines.record_places(block))
            for target, place in zip(texts, self._targets, strict=True):
                target.extend(
                    known.setdefault(text, text) for text in (row[place].strip() for row in block.rows)
                )
        if not texts[0]:
            raise FormatError(f"{lines.path}: there are no rows below the header; give some")
        self._numbers = np.concatenate(blocks) if in_memory else None
        self._places = None if in_memory else np.concatenate(places)
        self.shape = (len(texts[0]), len(self._inputs))
        self.answers = self._as_answers(texts, [columns[place] for place in self._targets])

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The rows of these numbers, in this order."""
        if self._numbers is not None:
            return np.asarray(self._numbers[indices])
        assert self._places is not None
        assert self._file is not None
        indices = np.asarray(indices, np.int64)
        order = np.argsort(indices, kind="stable")
        records: list[bytes] = []
        try:
            for begin, end in self._places[indices[order]].tolist():
                records.append(bytes(self._file.read(begin, end - begin)))
        except ShorterError:
            left = int((self._places[:, 1] <= self._file.bytes_from(0)).sum())
            raise shorter_error(self._lines.path, left, len(self._places), "rows") from None
        out = np.empty((len(indices), self.shape[1]), np.float32)
        if len(indices):
            out[order] = self._parser.parse(self._lines.split(records), indices[order])
        return out

    def groups(self, name: str) -> np.ndarray:
        """For each row the number of its group: rows with the same text in column ``name`` are one.

        Raises:
            DataError: there is no such column.
        """
        if name not in self._lines.names:
            raise DataError(
                f"{self._lines.path}: split: there is no column {name!r}: "
                f"{', '.join(self._lines.names[:40])}; choose one of these"
            )
        place = self._lines.names.index(name)
        numbers: dict[str, int] = {}
        return np.fromiter(
            (
                numbers.setdefault(row[place].strip(), len(numbers))
                for block in self._lines.blocks()
                for row in block.rows
            ),
            np.int64,
        )

    def _as_answers(self, texts: Sequence[Sequence[str]], columns: Sequence[Column]) -> np.ndarray:
        """Numbers where all are numbers or missing, else texts."""
        if len(texts) > 1 and (others := [each.name for each in columns if each.type != "number"]):
            raise DataError(
                f"{self._lines.path}: several targets must be numbers: {', '.join(others)} are not; choose "
                "others, or a single one"
            )
        arrays = [self._as_labels(each) for each in texts]
        return arrays[0] if len(arrays) == 1 else np.stack(arrays, axis=1)

    def _as_labels(self, texts: Sequence[str]) -> np.ndarray:
        values: dict[str, float] = {}
        for text in set(texts):
            try:
                values[text] = as_number(text, self._lines.commas)
            except ValueError:
                return np.asarray(["" if _no_label(each) else each for each in texts])
        return np.fromiter((values[text] for text in texts), np.float64, len(texts))


def _no_label(text: str) -> bool:
    return text.lower() in MISSING or is_missing(text)
