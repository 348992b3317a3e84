"""RunFilter: which of many runs a filter finds."""

from __future__ import annotations

import difflib
import operator
import re
import time
from collections.abc import Callable, Sequence
from functools import reduce

from studio.session.runs.measures import Value
from studio.session.runs.runs_folder import Run
from studio.session.runs.table.columns import CURVE, TO_BEST, RunColumn, RunColumns
from studio.session.runs.table.filter_text import (
    Both,
    Comparison,
    Condition,
    FilterError,
    Not,
    Operand,
    Words,
    parse_filter,
)

_ORDER: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d)?")
_SAME = 1e-9  # of the larger one: what was typed as 90 % is 0.9
Values = Callable[[str], Sequence[Value]]


class RunFilter:
    """A filter with its columns.

    Raises:
        FilterError: it can't be parsed, names a column that no run has, or compares it with an impossible
            value.
    """

    def __init__(self, text: str, columns: RunColumns) -> None:
        self.text, self._columns = text, columns
        self._condition = parse_filter(text)
        if self._condition is not None:
            self._check(self._condition)

    # ----- before it is used -----

    def _check(self, condition: Condition) -> None:
        if isinstance(condition, Not):
            self._check(condition.condition)
        elif isinstance(condition, Both):
            for each in condition.conditions:
                self._check(each)
        elif isinstance(condition, Comparison):
            self._check_comparison(condition)

    def _check_comparison(self, test: Comparison) -> None:
        column = self._column(test)
        if column.name == CURVE or column.name.endswith(TO_BEST):
            base = "loss" if column.name == CURVE else column.name.removesuffix(TO_BEST)
            raise FilterError(
                f"{test.column!r} can't be filtered; use {base}", test.position, len(test.column)
            )
        for value in test.values:
            if test.operator in _ORDER and _number(column, value) is None:
                raise FilterError(
                    f"{test.operator} needs a number: got {value.text!r}; for text use = != ~ or in",
                    value.position,
                    len(value.text),
                )
            if column.is_share and value.number is not None and value.unit != "%" and value.number > 1:
                raise FilterError(
                    f"{test.column} is a share of 1: got {value.text}; write {value.text} %",
                    value.position,
                    len(value.text),
                )

    def _column(self, test: Comparison) -> RunColumn:
        name = self._columns.find(test.column)
        if not name:
            known = [self._columns.short(each) for each in self._columns.names()]
            near = difflib.get_close_matches(test.column.casefold(), known, 3, 0.5)
            meant = (
                f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known[:12])}, ..."
            )
            raise FilterError(
                f"no run has a column {test.column!r}; {meant}", test.position, len(test.column)
            )
        return self._columns[name]

    # ----- which runs -----

    def find(self, runs: Sequence[Run], values: Values, texts: Callable[[], Sequence[str]]) -> list[int]:
        """The positions of the runs that it finds.

        Args:
            values: gives a column by its name.
            texts: gives the text of each run that words are looked for in, in lower case.
        """
        if self._condition is None:
            return list(range(len(runs)))
        mask = self._mask(self._condition, runs, values, texts)
        return [place for place, found in enumerate(mask) if found]

    def _mask(
        self, condition: Condition, runs: Sequence[Run], values: Values, texts: Callable[[], Sequence[str]]
    ) -> list[bool]:
        if isinstance(condition, Words):
            word = condition.text.casefold()
            return [word in text for text in texts()]
        if isinstance(condition, Not):
            return [not found for found in self._mask(condition.condition, runs, values, texts)]
        if isinstance(condition, Both):
            masks = [self._mask(each, runs, values, texts) for each in condition.conditions]
            join = operator.and_ if condition.word == "and" else operator.or_
            return reduce(lambda left, right: list(map(join, left, right)), masks)
        return self._compared(condition, runs, values)

    def _compared(self, test: Comparison, runs: Sequence[Run], values: Values) -> list[bool]:
        column = self._column(test)
        found = values(column.name)
        if test.operator in _ORDER:
            bound, compare = _number(column, test.values[0]), _ORDER[test.operator]
            assert bound is not None
            # A value that differs in its last digits only is the same one: not less, and not more.
            limit = bound + _SAME * abs(bound) * (1 if test.operator in ("<=", ">") else -1)
            return [isinstance(value, int | float) and compare(value, limit) for value in found]
        if test.operator in ("~", "!~"):
            part = test.values[0].text.casefold()
            mask = [any(part in text for text in texts) for texts in _texts(column, runs, found)]
            return mask if test.operator == "~" else [not each for each in mask]
        numbers = [number for each in test.values if (number := _number(column, each)) is not None]
        words = {each.text.casefold() for each in test.values}
        mask = [
            any(abs(value - number) <= _SAME * max(abs(value), abs(number)) for number in numbers)
            if isinstance(value, int | float)
            else value is not None and value.casefold() in words
            for value in found
        ]
        if column.raw is not None:  # the value as the settings have it: "lenet" for "LeNet"
            mask = [
                each or (isinstance(value, str) and str(column.raw(run)).casefold() in words)
                for each, value, run in zip(mask, found, runs, strict=True)
            ]
        if test.operator == "!=":
            return [value is not None and not each for each, value in zip(mask, found, strict=True)]
        return mask


def _texts(column: RunColumn, runs: Sequence[Run], values: Sequence[Value]) -> list[tuple[str, ...]]:
    """What is shown of each value, and how the settings have it, in lower case."""
    if column.raw is None:
        return [(column.shown(value).casefold(),) for value in values]
    return [
        (column.shown(value).casefold(), "" if value is None else str(column.raw(run)).casefold())
        for run, value in zip(runs, values, strict=True)
    ]


def _number(column: RunColumn, value: Operand) -> float | None:
    """The number that is meant; a date is one too."""
    if column.name == "started" and _DATE.fullmatch(value.text):
        form = "%Y-%m-%d" if len(value.text) == 10 else "%Y-%m-%d %H:%M"
        try:
            return time.mktime(time.strptime(value.text.replace("T", " "), form))
        except (ValueError, OverflowError):
            return None
    return value.number
