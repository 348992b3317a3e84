"""Columns, targets and rows of a table in words, for the page Data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject

from resources import quantities
from resources.words import shown
from studio.session.data.data_view import ColumnView, DataFacts
from studio.windows.data.column_table import ColumnRow
from studio.windows.data.target_histograms import TargetCounts

DASH = "\u2013"
MOST_WORDS = 4


def column_rows(columns: Sequence[ColumnView], where: QObject) -> list[ColumnRow]:
    """All columns of a table; ``where`` translates."""
    targets = [column.name for column in columns if column.role == "target"]
    return [_row(column, where, fixed=targets == [column.name]) for column in columns]


def choice_rows(columns: Sequence[ColumnView], where: QObject) -> list[ColumnRow]:
    """The columns of which one is to be predicted."""
    return [_row(column, where) for column in columns]


def _row(column: ColumnView, where: QObject, fixed: bool = False) -> ColumnRow:
    tr = where.tr
    types = {"number": tr("numbers"), "word": tr("words"), "date": tr("dates")}
    kind = types.get(column.type, column.type)
    if column.unit:
        kind = tr("{0} [{1}]").format(kind, column.unit)
    reason = shown(column.reason)
    if not reason and column.words:
        more = ", \u2026" if len(column.words) > MOST_WORDS else ""
        reason = ", ".join(column.words[:MOST_WORDS]) + more
    return ColumnRow(column.name, kind, column.role, reason, column.missing, column.distinct, fixed)


def target_counts(facts: DataFacts) -> list[TargetCounts]:
    """The histogram of each number that is to be predicted."""
    return [
        TargetCounts(each["name"], each["low"], each["high"], tuple(each["counts"])) for each in facts.targets
    ]


def answer_title(facts: DataFacts, where: QObject) -> str:
    """What the first column of a list of samples is: the class, or the numbers to predict."""
    names = [str(each["name"]) for each in facts.targets]
    return ", ".join(names) if names else where.tr("Class")


def number_texts(values: Sequence[float]) -> str:
    """Numbers, a dash for a missing one."""
    return ", ".join(DASH if math.isnan(value) else quantities.value(value) for value in values)


def value_texts(values: Any, facts: DataFacts) -> list[str]:
    """A row of a table: numbers, and words in place of their indices."""
    words = [column.words for column in facts.table if column.role == "input"]
    texts = []
    for place, value in enumerate(values.tolist()):
        known = words[place] if place < len(words) else ()
        if not known:
            texts.append(number_texts([value]))
        else:
            texts.append(known[int(value) - 1] if 0 < value <= len(known) else DASH)
    return texts
