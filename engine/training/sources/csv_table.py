"""CSV files: numeric columns are a vector, one column the label; a large file is read row by row."""

from __future__ import annotations

import csv
import io
import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import DataError, FormatError
from engine.files.reading import read_error

LABELS = ("label", "labels", "class", "target", "y", "category", "species", "diagnosis")
LONGEST_LINE = 4 << 20
MOST_COLUMNS = 200_000
IN_MEMORY = 128 << 20
"""A file up to this size is held in memory as numbers; of a larger one only where its rows begin."""
MISSING = ("", "na", "nan", "null", "none", "?")
_BLOCK = 4096
_BLOCK_BYTES = 8 << 20
_FEW = 100  # different numbers in a column that may be labels


@dataclass(frozen=True)
class Columns:
    """How the file's columns are used: numbers of the inputs and of the label, and their names."""

    names: tuple[str, ...]
    inputs: tuple[int, ...]
    label: int


class CsvFile:
    """The rows of a CSV file, with a header or without.

    ``labels`` (texts) and ``shape`` [rows, columns] are read when it is opened; ``take`` gives rows as
    float32, NaN where a number is missing.

    Raises:
        DataError: it can't be read, there is no such column, or no label can be found.
        FormatError: no table: lines too long, rows of different length, or texts among the numbers.
    """

    dtype: np.dtype[Any] = np.dtype(np.float32)

    def __init__(self, path: Path, label_name: str = "") -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                first = [record for _, record in zip(range(50), self._records(file), strict=False)]
                if len(first) < 2:
                    raise FormatError(f"{path}: no table: {len(first)} lines; give a header and rows")
                self._delimiter = _delimiter(first[0][1])
                head = [self._split(line) for _, line in first]
                self.header = _has_header(head)
                self.columns = self._columns(head, label_name)
                self._in_memory = os.fstat(file.fileno()).st_size <= IN_MEMORY
                self._read_all(file)
        except OSError as error:
            if isinstance(error, DataError):
                raise
            raise read_error(path, error) from error

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self._offsets), len(self.columns.inputs))

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The rows of these numbers, in this order."""
        if self._numbers is not None:
            return np.asarray(self._numbers[indices])
        lines: list[bytes] = [b""] * len(indices)
        try:
            with self.path.open("rb") as file:
                for place in np.argsort(indices, kind="stable"):
                    file.seek(self._offsets[int(indices[place])])
                    lines[place] = file.readline(LONGEST_LINE + 1)
        except OSError as error:
            raise read_error(self.path, error) from error
        return self._parse(lines, indices)

    def _records(self, file: Any) -> Iterator[tuple[int, bytes]]:
        """Every line that is not empty, with where it begins."""
        file.seek(0)
        offset = 0
        while line := file.readline(LONGEST_LINE + 1):
            begin, offset = offset, offset + len(line)
            if len(line) > LONGEST_LINE:
                raise FormatError(
                    f"{self.path}: a line is longer than {LONGEST_LINE >> 20} MB, at byte {begin}; give "
                    "a table with "
                    "shorter lines"
                )
            if begin == 0 and line.startswith(b"\xef\xbb\xbf"):
                begin, line = 3, line[3:]
            if b"\0" in line:
                raise FormatError(
                    f"{self.path}: no text: a zero byte in the line at byte {begin}; save it as CSV"
                )
            if line.strip():
                yield begin, line

    def _split(self, line: bytes) -> list[str]:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if '"' not in text:
            return text.split(self._delimiter)
        try:
            return next(csv.reader(io.StringIO(text), delimiter=self._delimiter, strict=True))
        except (csv.Error, StopIteration) as error:
            raise FormatError(
                f"{self.path}: a line can't be split: {text[:60]!r}: {error}; a quoted text must "
                "end in its line"
            ) from error

    def _columns(self, head: Sequence[Sequence[str]], label_name: str) -> Columns:
        width = len(head[0])
        if not 2 <= width <= MOST_COLUMNS:
            raise FormatError(
                f"{self.path}: no table of inputs and a label: {width} columns in "
                f"{','.join(head[0])[:60]!r}; give "
                f"from 2 to {MOST_COLUMNS}, separated by commas, semicolons or tabs"
            )
        names = tuple(name.strip() for name in head[0]) if self.header else tuple(map(str, range(width)))
        rows = [row for row in head[1 if self.header else 0 :] if len(row) == width]
        numeric = [all(_is_number(row[column]) for row in rows) for column in range(width)]
        label = self._label(names, numeric, rows, label_name)
        inputs = tuple(column for column in range(width) if numeric[column] and column != label)
        if not inputs:
            raise FormatError(
                f"{self.path}: no column holds numbers: {', '.join(names[:12])}; give some that do"
            )
        return Columns(names, inputs, label)

    def _label(
        self, names: tuple[str, ...], numeric: list[bool], rows: list[list[str]] | Any, label_name: str
    ) -> int:
        if label_name:
            if label_name in names:
                return names.index(label_name)
            raise DataError(
                f"{self.path}: there is no column {label_name!r}: {', '.join(names[:12])}; choose one "
                "of these"
            )
        lower = [name.lower() for name in names]
        for wanted in LABELS:
            if wanted in lower:
                return lower.index(wanted)
        for column in (len(names) - 1, 0):
            if not numeric[column]:
                return column
        for column in (len(names) - 1, 0):
            values = {row[column].strip() for row in rows}
            if len(values) <= _FEW and all(value.lstrip("+-").isdigit() for value in values):
                return column
        raise DataError(
            f"{self.path}: which column is the label? There are {', '.join(names[:12])}; choose it with "
            "label_name"
        )

    def _read_all(self, file: Any) -> None:
        self._offsets = array("q")
        labels: list[str] = []
        known: dict[str, str] = {}
        numbers: list[np.ndarray] = []
        block: list[bytes] = []
        size = 0

        def parse() -> None:
            nonlocal size
            if block:
                parsed = self._parse(block, range(len(labels) - len(block), len(labels)))
                if self._in_memory:
                    numbers.append(parsed)
                block.clear()
                size = 0

        for number, (offset, line) in enumerate(self._records(file)):
            if number == 0 and self.header:
                continue
            fields = self._split(line)
            if len(fields) != len(self.columns.names):
                raise FormatError(
                    f"{self.path}: row {len(labels)} (at byte {offset}) has {len(fields)} columns instead of "
                    f"{len(self.columns.names)}; fix or remove it"
                )
            said = fields[self.columns.label].strip()
            labels.append(known.setdefault(said, said))
            self._offsets.append(offset)
            block.append(line)
            size += len(line)
            if len(block) == _BLOCK or size > _BLOCK_BYTES:
                parse()
        parse()
        if not labels:
            raise FormatError(f"{self.path}: there are no rows below the header; give some")
        self._numbers = np.concatenate(numbers) if self._in_memory else None
        self.labels = _as_labels(labels, known)

    def _parse(self, lines: Sequence[bytes], numbers: Sequence[int] | np.ndarray) -> np.ndarray:
        """The inputs of these lines, float32; ``numbers`` are those of the rows, for messages."""
        columns = self.columns.inputs
        if not any(b'"' in line for line in lines):
            try:
                return np.loadtxt(
                    [line.decode("ascii") for line in lines],
                    np.float32,
                    comments=None,
                    delimiter=self._delimiter,
                    usecols=columns,
                    ndmin=2,
                )
            except (ValueError, UnicodeDecodeError):
                pass  # something is missing or no number: one by one
        rows = np.empty((len(lines), len(columns)), np.float32)
        for place, line in enumerate(lines):
            fields = self._split(line)
            for target, column in enumerate(columns):
                rows[place, target] = self._number(fields[column], int(numbers[place]), column)
        return rows

    def _number(self, text: str, row: int, column: int) -> float:
        text = text.strip()
        if text.lower() in MISSING:
            return float("nan")
        try:
            return float(text)
        except ValueError:
            raise FormatError(
                f"{self.path}: row {row}, column {self.columns.names[column]}: not a number: "
                f"{text[:60]!r}; fix it, "
                "or leave it empty where it is not known"
            ) from None


def _as_labels(labels: Sequence[str], known: dict[str, str]) -> np.ndarray:
    """Numbers where all are numbers or missing, else texts."""
    values: dict[str, float] = {}
    for text in known:
        try:
            values[text] = float("nan") if text.lower() in MISSING else float(text)
        except ValueError:
            return np.asarray(["" if text.lower() in MISSING else text for text in labels])
    return np.fromiter((values[text] for text in labels), np.float64, len(labels))


def _delimiter(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return max(",;\t|", key=text.count)


def _has_header(head: Sequence[Sequence[str]]) -> bool:
    return not any(_is_number(field) and field.strip() for field in head[0]) and any(
        _is_number(field) and field.strip() for field in head[1]
    )


def _is_number(text: str) -> bool:
    text = text.strip()
    if text.lower() in MISSING:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True
