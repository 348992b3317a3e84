"""The columns of a table: the type of each over all rows, and its role, with the reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import DataError, FormatError
from engine.training.sources.options import DataOptions
from engine.training.sources.spec import Column, ColumnType
from engine.training.sources.tables.values import as_number, first_and_second, is_date, is_missing

if TYPE_CHECKING:
    from engine.files.plain import StrPath

LABELS = ("label", "labels", "class", "target", "y", "category", "species", "diagnosis")
MOST_WORDS = 1000
"""Different words of a column that is an input, at most."""
_MOST_COUNTED = 2 << 20
_MOST_FRACTIONS = 1 << 14
"""Different values are counted up to so many, for no decision depends on how many fractions there are."""
_PENDING = 512
_NEARLY_ALL = 0.95
_MOSTLY = 0.9  # a column with so large a share of numbers holds numbers, and mistakes
_FEW_ROWS = 10
_ID_NAME = re.compile(r"(.*[\W_])?(id|ids|index|uuid|guid|key|nr|no|number|unnamed.*|column 1)")
_UNIT = re.compile(r".*\S\s*[(\[]([^()\[\]]{1,20})[)\]]")


class TargetNeeded(DataError):
    """A table whose target is not known: ``columns`` are all of them, to choose from."""

    def __init__(self, message: str, columns: Sequence[Column]) -> None:
        super().__init__(message)
        self.columns = tuple(columns)


class ColumnScan:
    """What the texts of one column are, looked at in blocks."""

    __slots__ = (
        "_counted",
        "_days",
        "_distinct",
        "_kinds",
        "_limited",
        "_months",
        "_pending",
        "_size",
        "commas",
        "dates",
        "fractions",
        "high",
        "low",
        "missing",
        "numbers",
        "rows",
        "stray",
        "words",
    )

    def __init__(self, commas: bool) -> None:
        self.commas = commas
        self.rows = self.missing = self.numbers = self.dates = 0
        self.fractions = False
        self.low, self.high = np.inf, -np.inf
        self.stray: tuple[int, str] | None = None
        self.words: set[str] | None = set()
        self._kinds: dict[str, str] = {}
        self._distinct = np.zeros(0, np.int64)
        self._pending: list[np.ndarray] = []
        self._size = self._counted = 0
        self._limited = False
        # Of dates with the year last: the largest first and second number.
        self._days = self._months = 0

    def add(self, texts: Sequence[str], first: int) -> None:
        """Look at the texts of the rows from number ``first`` on."""
        self.rows += len(texts)
        if self.words is not None:
            self.words.update(texts)
            if len(self.words) > 2 * MOST_WORDS:
                self.words = None
        if not self.commas:
            try:
                values = np.fromiter(map(float, texts), np.float64, len(texts))
            except ValueError:
                pass
            else:
                self._add_numbers(values)
                return
        self._add_texts(texts, first)

    def _add_texts(self, texts: Sequence[str], first: int) -> None:
        values, others = [], []
        for text, count in Counter(texts).items():
            if is_missing(text):
                self.missing += count
                continue
            try:
                values.append(np.repeat(as_number(text, self.commas), count))
            except ValueError:
                if is_date(text):
                    self.dates += count
                    first_number, second = first_and_second(text) or (0, 0)
                    self._days, self._months = max(self._days, first_number), max(self._months, second)
                elif self.stray is None:
                    self.stray = (first + texts.index(text), text.strip())
                others.append(hash(text.strip()))
        if values:
            self._add_numbers(np.concatenate(values))
        if others:
            self._count(np.asarray(others, np.int64))

    def _add_numbers(self, values: np.ndarray) -> None:
        known = values[~np.isnan(values)]
        self.missing += len(values) - len(known)
        self.numbers += len(known)
        if not len(known):
            return
        self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))
        self.fractions = self.fractions or bool((known != np.rint(known)).any())
        self._count(known.view(np.int64))

    def _count(self, values: np.ndarray) -> None:
        if self._limited:
            return
        self._pending.append(values)
        self._size += len(values)
        self._counted = self.rows
        if self._size > max(_PENDING, 2 * len(self._distinct)):
            self._merge()
            self._limited = len(self._distinct) > (_MOST_FRACTIONS if self.fractions else _MOST_COUNTED)

    def _merge(self) -> None:
        values = np.sort(np.concatenate([self._distinct, *self._pending]))
        self._distinct = values[np.concatenate([[True], values[1:] != values[:-1]])]
        self._pending, self._size = [], 0

    @property
    def distinct(self) -> int:
        """How many different values there are; a lower bound where they are too many to be counted."""
        if self._pending:
            self._merge()
        return len(self._distinct)

    @property
    def filled(self) -> int:
        """How many rows have a value."""
        return self.rows - self.missing

    @property
    def differs(self) -> bool:
        """Whether nearly every row has another value."""
        counted = self.filled if not self._limited else self._counted
        return self.filled > 1 and self.distinct >= _NEARLY_ALL * counted

    @property
    def type(self) -> ColumnType:
        if self.numbers == self.filled:
            return "number"
        return "date" if self.dates == self.filled else "word"

    @property
    def month_first(self) -> bool:
        """Whether the dates can be read with the month first only."""
        return self._days <= 12 < self._months

    @property
    def date_order(self) -> str:
        """Which of day and month stands first, where the year does not; "" for other dates."""
        if not self._days:
            return ""
        if self.month_first:
            return "month first"
        return "day first" if self._days > 12 else "taken as day first: 3/4 is 3 April"

    @property
    def is_mistyped(self) -> bool:
        """Whether the column holds numbers, and a few texts that are none."""
        return self.type == "word" and self.numbers >= max(_MOSTLY * self.filled, _FEW_ROWS)

    def vocabulary(self) -> tuple[str, ...] | None:
        """The words in the order of the alphabet; None for too many."""
        if self.words is None:
            return None
        words = sorted({word.strip() for word in self.words if not is_missing(word)})
        return tuple(words) if len(words) <= MOST_WORDS else None


def target_columns(
    path: StrPath, names: Sequence[str], scans: Sequence[ColumnScan], chosen: str
) -> list[int]:
    """The columns that are to be predicted: those chosen, or one of a known name.

    Raises:
        TargetNeeded: there is none; lists all columns with their types.
    """
    listed = [
        Column(name, "input", scan.type, distinct=scan.distinct, missing=scan.missing)
        for name, scan in zip(names, scans, strict=True)
    ]
    listing = ", ".join(f"{column.name} ({_TYPES[column.type]})" for column in listed[:40])
    listing += f" and {len(listed) - 40} more" if len(listed) > 40 else ""
    if chosen:
        wanted = [chosen] if chosen in names else [part.strip() for part in chosen.split(",")]
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise TargetNeeded(
                f"{path}: there is no column {unknown[0]!r}: {listing}; choose one of these", listed
            )
        return [names.index(name) for name in dict.fromkeys(wanted)]
    lower = [name.lower() for name in names]
    for known in LABELS:
        if known in lower:
            return [lower.index(known)]
    raise TargetNeeded(
        f"{path}: which column is the target? There are {listing}; choose it with --target COLUMN", listed
    )


_AS_IDS = "differs in nearly every row, as ids do"
_TYPES = {"number": "numbers", "word": "words", "date": "dates"}


def typed_columns(
    path: StrPath,
    names: Sequence[str],
    scans: Sequence[ColumnScan],
    targets: Sequence[int],
    options: DataOptions,
) -> tuple[Column, ...]:
    """Each column with its role and the reason.

    Raises:
        DataError: a pattern that fits no column. FormatError: a column of numbers with a text among them.
    """
    for setting, patterns in (("exclude", options.exclude), ("include", options.include)):
        for pattern in patterns:
            if not any(_fits(name, (pattern,)) for name in names):
                raise DataError(
                    f"{path}: {setting}: no column is called {pattern!r}: {', '.join(names[:40])}; choose "
                    "one of these"
                )
    group = options.split.removeprefix("group:") if options.split.startswith("group:") else None
    columns = []
    for place, (name, scan) in enumerate(zip(names, scans, strict=True)):
        unit = found[1] if (found := _UNIT.fullmatch(name)) else ""
        column = Column(name, "input", scan.type, missing=scan.missing, distinct=scan.distinct, unit=unit)
        if place in targets:
            column = replace(column, role="target")
            if options.task != "classes":
                _require_one_type(path, column, scan, "task classes")
        elif name == group:
            column = replace(column, role="excluded", reason="holds the groups of the split")
        elif _fits(name, options.exclude):
            column = replace(column, role="excluded", reason="excluded by you")
        else:
            column = _as_input(path, column, scan, _fits(name, options.include), options.date_order)
        columns.append(column)
    if not any(column.role == "input" for column in columns):
        # The only column that counts is not an id: it is all that there is to learn from.
        columns = [
            replace(each, role="input", reason="")
            if each.reason.startswith(_AS_IDS) and not _is_id(each)
            else each
            for each in columns
        ]
    return tuple(columns)


def _as_input(path: Any, column: Column, scan: ColumnScan, included: bool, order: str) -> Column:
    reason = "" if included else _no_input(column, scan)
    if scan.filled == 0:
        reason = "no row has a value"
    if reason:
        return replace(column, role="excluded", reason=reason)
    if not included:
        _require_one_type(path, column, scan, f"--exclude {column.name!r}, or --include it as words")
    if column.type == "word":
        words = scan.vocabulary()
        if words is None:
            raise DataError(f"{path}: column {column.name} has over {MOST_WORDS} different words; exclude it")
        column = replace(column, words=words)
    if scan.distinct == 1:
        column = replace(column, reason="the same value in every row")
    if column.type == "date":
        column = replace(column, month_first=scan.month_first if order == "auto" else order == "month")
    if included:
        dates = scan.date_order if order == "auto" else f"{order} first, as you chose"
        more = f", {dates}" if column.type == "date" and scan.date_order else ""
        column = replace(column, reason=f"included by you{more}")
    return column


def _require_one_type(path: Any, column: Column, scan: ColumnScan, otherwise: str) -> None:
    """Refuse numbers with a text among them. Raises FormatError: names the first."""
    if scan.is_mistyped and scan.stray is not None:
        row, text = scan.stray
        raise FormatError(
            f"{path}: row {row}, column {column.name}: not a number: {text[:60]!r}; fix it, leave it empty "
            f"where it is not known, or choose {otherwise}"
        )


def _no_input(column: Column, scan: ColumnScan) -> str:
    """Why a column says nothing about the target; "" where it may."""
    named = _is_id(column)
    share = f"{scan.distinct} different values in {scan.filled} rows"
    if column.type == "date":
        return f"holds dates, {scan.date_order}" if scan.date_order else "holds dates"
    if column.type == "word" and not scan.is_mistyped:
        if scan.differs and (scan.filled >= _FEW_ROWS or named or column.name.lower().endswith("name")):
            return f"differs in nearly every row, as names do: {share}"
        if scan.vocabulary() is None:
            return f"has too many different words: {scan.distinct}, over {MOST_WORDS}"
    if column.type == "number" and scan.differs and not scan.fractions:
        dense = scan.filled >= 2 * _FEW_ROWS and scan.high - scan.low < 1.5 * scan.filled
        if named or dense:
            return f"{_AS_IDS}: {share}"
    return ""


def _is_id(column: Column) -> bool:
    return _ID_NAME.fullmatch(column.name.strip().lower()) is not None


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(name == pattern or fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)
