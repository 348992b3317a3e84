"""Values of a table as text: numbers, also with decimal commas, missing values, and dates."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence

MISSING = ("", "na", "nan", "null", "none", "?")
"""Texts that stand for no value, in lower case."""
_ALSO_MISSING = ("n/a", "#n/a", "-")
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")
_TIME = r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})" + _TIME)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + _TIME)
_EPOCH = datetime.datetime(1970, 1, 1)


def is_missing(text: str) -> bool:
    """Whether a text stands for no value."""
    return text.strip().lower() in MISSING or text.strip().lower() in _ALSO_MISSING


def is_number(text: str) -> bool:
    """Whether a text is a number or missing."""
    text = text.strip()
    if text.lower() in MISSING:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_number(text: str, commas: bool = False) -> float:
    """The number that a text stands for; NaN where it is missing.

    Args:
        commas: the file has decimal commas, and points between thousands.

    Raises:
        ValueError: it is neither a number nor missing.
    """
    text = text.strip()
    if commas and (_COMMA.fullmatch(text) or _THOUSANDS.fullmatch(text)):
        text = text.replace(".", "").replace(",", ".")
    try:
        return float(text)
    except ValueError:
        if is_missing(text):
            return float("nan")
        raise


def decimal_commas(rows: Iterable[Sequence[str]]) -> bool:
    """Whether rows of texts hold numbers such as 3,14, and none such as 3.14."""
    found = False
    for row in rows:
        for text in row:
            text = text.strip()
            if _COMMA.fullmatch(text):
                found = True
            elif "." in text and is_number(text) and not _THOUSANDS.fullmatch(text):
                return False
    return found


def is_date(text: str) -> bool:
    """Whether a text is a date, with or without a time: 2026-01-31, 31.1.2026, 1/31/2026 14:05."""
    text = text.strip()
    if not 8 <= len(text) <= 35 or not text[0].isdigit():
        return False
    if found := _YEAR_FIRST.fullmatch(text):
        return _sound(int(found[1]), int(found[2]), int(found[3]))
    if found := _YEAR_LAST.fullmatch(text):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        return _sound(year, second, first) or _sound(year, first, second)
    return False


def first_and_second(text: str) -> tuple[int, int] | None:
    """The day and the month of a date with the year last, in the order in which they stand; None for other
    texts."""
    found = _YEAR_LAST.fullmatch(text.strip())
    return (int(found[1]), int(found[3])) if found else None


def date_number(text: str, month_first: bool = False) -> float:
    """Days since 1970-01-01 of a date; NaN where it is missing. With the year last, days stand before months,
    as in 31/1/2026, unless ``month_first``.

    Raises:
        ValueError: no date, or one whose month would be above 12.
    """
    text = text.strip()
    if is_missing(text):
        return float("nan")
    found = _YEAR_FIRST.fullmatch(text)
    if found:
        parts = found.groups()
    else:
        found = _YEAR_LAST.fullmatch(text)
        if not found:
            raise ValueError(f"not a date: {text!r}")
        day_month = (found[3], found[1]) if not month_first else (found[1], found[3])
        parts = (found[4], *day_month, *found.groups()[4:])
    year, month, day, hour, minute, second = (int(part or 0) for part in parts)
    moment = datetime.datetime(year, month, day, hour, minute, second)
    return (moment - _EPOCH).total_seconds() / 86400


def _sound(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 31 and year > 0
