"""The lines of a CSV file: separator, encoding, header, and its rows as texts, read in blocks."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

import numpy as np

from engine.core.errors import FormatError
from engine.training.sources.tables.values import as_number, decimal_commas, is_number
from resources.regular_files import open_regular

LONGEST_LINE = 4 << 20
MOST_COLUMNS = 200_000
_CHUNK = 256 << 10
_HEAD = 50  # rows by which separator and header are found
_SEPARATORS = (";", "\t", "|", ",")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Some rows of the file: the number of the first, their texts, and the bytes that they were read from."""

    first: int
    begin: int
    data: bytes
    rows: list[list[str]]


class CsvLines:
    """A CSV file as rows of texts, all of the same number of columns.

    Args:
        stored: find separator, header and encoding as earlier versions did.
        wanted: names of columns that are asked for; a line that has one of them is the header.
        text: the content of the file where there is none; ``path`` names it in messages.
        narrowest: so many columns at least.

    Raises:
        FormatError: no table: lines too long, quotes that do not end, too few columns. OSError.
    """

    def __init__(
        self,
        path: Path,
        stored: bool,
        wanted: Sequence[str] = (),
        text: str | None = None,
        narrowest: int = 2,
    ) -> None:
        self.path, self._stored = path, stored
        self._given = None if text is None else text.encode("utf-8", "replace")
        self.delimiter = ","
        with self._opened() as file:
            self._length = file.seek(0, io.SEEK_END)
            file.seek(0)
            lines: list[bytes] = []
            for _, piece in self._pieces(file):
                lines += [line for line in piece.splitlines(keepends=True) if line.strip()]
                if len(lines) > _HEAD:
                    break
        self.delimiter = self._separator(lines[:_HEAD])
        self.head = self._split(b"".join(lines[: 4 * _HEAD]), 0, cut=True)[:_HEAD]
        if len(self.head) < 2:
            raise FormatError(f"{path}: no table: {len(self.head)} lines; give a header and rows")
        width = len(self.head[0])
        if not narrowest <= width <= MOST_COLUMNS:
            raise FormatError(
                f"{path}: no table of inputs and a label: {width} columns in "
                f"{','.join(self.head[0])[:60]!r}; give from {narrowest} to {MOST_COLUMNS}, separated by "
                "commas, semicolons or tabs"
            )
        self.header = _stored_header(self.head) if stored else _has_header(self.head, wanted)
        self.names = _names(self.head[0], stored) if self.header else tuple(map(str, range(width)))
        self.commas = (
            not stored and self.delimiter != "," and decimal_commas(self.head[1 if self.header else 0 :])
        )

    def blocks(self) -> Iterator[Block]:
        """The rows below the header. Raises FormatError: a row of another number of columns; OSError."""
        width, count, header = len(self.names), 0, self.header
        with self._opened() as file:
            for begin, data in self._pieces(file):
                rows = self._split(data, begin)
                if header and rows:
                    rows, header = rows[1:], False
                    # The header's line goes, so that bytes and rows stay together.
                    end = record_ends(data)
                    lead = next(place for place, each in enumerate(_records(data, end)) if each.strip())
                    begin, data = begin + int(end[lead]), data[int(end[lead]) :]
                if not rows:
                    continue
                if set(map(len, rows)) != {width}:
                    place = next(place for place, row in enumerate(rows) if len(row) != width)
                    raise FormatError(
                        f"{self.path}: row {count + place} has {len(rows[place])} columns instead of "
                        f"{width}; fix or remove it"
                    )
                yield Block(count, begin, data, rows)
                count += len(rows)

    def _opened(self) -> IO[bytes]:
        return io.BytesIO(self._given) if self._given is not None else open_regular(self.path)

    def split(self, records: Sequence[bytes]) -> list[list[str]]:
        """The texts of these records, as ``record_places`` gave them."""
        return self._split(b"".join(each if each.endswith(b"\n") else each + b"\n" for each in records), 1)

    def record_places(self, block: Block) -> np.ndarray:
        """Where in the file the rows of a block begin and end, int64 [n, 2]."""
        ends = record_ends(block.data)
        begins = np.concatenate([[0], ends[:-1]])
        places = np.stack([begins, ends], axis=1)
        if len(places) != len(block.rows):
            kept = [bool(block.data[begin:end].strip()) for begin, end in places]
            places = places[np.asarray(kept, bool)]
        if len(places) != len(block.rows):
            self._unsplit(block.data, "its lines end in several ways")
        return np.asarray(places + block.begin, np.int64)

    def _pieces(self, file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
        """The file in pieces of whole records, with where each begins."""
        rest, begin = b"", 0
        while data := file.read(_CHUNK):
            rest += data
            if begin + len(rest) > self._length:
                raise FormatError(f"{self.path}: it grew while it was read; wait until it is written")
            zero = rest.find(b"\0")
            if zero >= 0:
                raise FormatError(f"{self.path}: no text: a zero byte at byte {begin + zero}; save it as CSV")
            cut = _cut(rest)
            if cut > 0:
                yield begin, rest[:cut]
                begin, rest = begin + cut, rest[cut:]
            elif len(rest) > LONGEST_LINE:
                what = "a quoted text must end in its row" if b"\n" in rest else "a line is too long"
                raise FormatError(
                    f"{self.path}: a line is longer than {LONGEST_LINE >> 20} MB, at byte {begin}: {what}; "
                    "give a table with shorter lines"
                )
        if rest:
            yield begin, rest

    def _split(self, data: bytes, begin: int, cut: bool = False) -> list[list[str]]:
        if begin == 0 and data.startswith(_BOM):
            data = data[len(_BOM) :]
        reader = csv.reader(io.StringIO(self._text(data), newline=""), delimiter=self.delimiter, strict=True)
        rows = []
        try:
            for row in reader:
                if len(row) > 1 or (row and row[0].strip()):
                    rows.append(row)
        except csv.Error as error:
            if not cut or len(rows) < 2:
                self._unsplit(data, str(error))
        return rows

    def _text(self, data: bytes) -> str:
        if self._stored:
            return data.decode("utf-8", "replace")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("cp1252", "replace")

    def _unsplit(self, data: bytes, why: str) -> NoReturn:
        text = self._text(data[-60:]).strip()
        raise FormatError(
            f"{self.path}: a line can't be split: {text!r}: {why}; a quoted text must end in its row, "
            f"before the separator {self.delimiter!r}"
        )

    def _separator(self, lines: Sequence[bytes]) -> str:
        texts = [self._text(line) for line in lines]
        if not texts:
            return ","
        if not self._stored:
            for separator in _SEPARATORS:
                counts = {_outside_quotes(text).count(separator) for text in texts}
                if len(counts) == 1 and counts != {0}:
                    return separator
        return max(",;\t|", key=texts[0].count)


def record_ends(data: bytes) -> np.ndarray:
    """Where the records of ``data`` end: behind each line end that is not in quotes."""
    values = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(values == 10)
    if b'"' in data:
        ends = ends[np.cumsum(values == 34)[ends] % 2 == 0]
    ends = ends + 1
    return ends if len(ends) and ends[-1] == len(data) else np.append(ends, len(data))


def _records(data: bytes, ends: np.ndarray) -> Iterator[bytes]:
    begin = 0
    for end in ends.tolist():
        yield data[begin:end]
        begin = end


def _cut(data: bytes) -> int:
    """Behind the last line end of ``data`` that is not in quotes; 0 for none."""
    cut = data.rfind(b"\n") + 1
    if cut and data.count(b'"', 0, cut) % 2:
        quote = data.rfind(b'"', 0, cut)
        cut = data.rfind(b"\n", 0, quote) + 1
    return cut


def _outside_quotes(text: str) -> str:
    return "".join(text.split('"')[::2]) if '"' in text else text


def _names(fields: Sequence[str], stored: bool) -> tuple[str, ...]:
    names = [" ".join(field.splitlines()).strip() for field in fields]
    if stored:
        return tuple(names)
    given: dict[str, int] = {}
    unique = []
    for place, name in enumerate(names):
        name = name or f"column {place + 1}"
        given[name] = given.get(name, 0) + 1
        unique.append(name if given[name] == 1 else f"{name} ({given[name]})")
    return tuple(unique)


def _stored_header(head: Sequence[Sequence[str]]) -> bool:
    return not any(is_number(field) and field.strip() for field in head[0]) and any(
        is_number(field) and field.strip() for field in head[1]
    )


def _has_header(head: Sequence[Sequence[str]], wanted: Sequence[str]) -> bool:
    first = [field.strip() for field in head[0]]
    if any(name and name in first and not is_number(name) for name in wanted):
        return True
    rows = [row for row in head[1:] if len(row) == len(first)]
    below = [{row[column].strip() for row in rows} for column in range(len(first))]
    for name, values in zip(first, below, strict=True):
        known = [value for value in values if not is_number(value) or as_number(value) == as_number(value)]
        if name and not is_number(name) and known and all(map(is_number, known)):
            return True
    if any(is_number(name) and name for name in first):
        return False
    return not any(name and name in values for name, values in zip(first, below, strict=True))
