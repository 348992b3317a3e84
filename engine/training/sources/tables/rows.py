"""Rows of texts as the inputs of a model: numbers, dates, and the indices of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.core.errors import FormatError
from engine.training.sources.spec import Column
from engine.training.sources.tables.values import as_number, date_number


class RowParser:
    """Turns rows of texts into float32 inputs.

    Args:
        where: the file, for messages.
        inputs: each input with the place of its text in a row.
        commas: the file has decimal commas.
    """

    def __init__(self, where: str, inputs: Sequence[tuple[int, Column]], commas: bool) -> None:
        self.where, self._inputs, self._commas = where, inputs, commas
        self._indices = {
            place: {word: index for index, word in enumerate(column.words, 1)} for place, column in inputs
        }

    def parse(self, rows: Sequence[Sequence[str]], numbers: Sequence[int] | np.ndarray) -> np.ndarray:
        """The inputs of these rows, float32: NaN where a number is missing, 0 for an unknown word.

        Args:
            numbers: those of the rows, for messages.

        Raises:
            FormatError: a text that is no number, or no date; names row and column.
        """
        out = np.empty((len(rows), len(self._inputs)), np.float32)
        columns = list(zip(*rows, strict=True))
        with np.errstate(over="ignore"):
            for target, (place, column) in enumerate(self._inputs):
                texts = columns[place]
                if column.words:
                    index = self._indices[place]
                    out[:, target] = [index.get(text.strip(), 0) for text in texts]
                elif column.type == "date":
                    days = partial(date_number, month_first=column.month_first)
                    out[:, target] = self._converted(days, texts, numbers, column)
                else:
                    out[:, target] = self._as_numbers(texts, numbers, column)
        return out

    def _as_numbers(self, texts: Sequence[str], numbers: Any, column: Column) -> Any:
        if not self._commas:
            try:
                return np.fromiter(map(float, texts), np.float64, len(texts))
            except ValueError:
                pass  # something is missing or no number: one by one
        return self._converted(lambda text: as_number(text, self._commas), texts, numbers, column)

    def _converted(
        self, convert: Callable[[str], float], texts: Sequence[str], numbers: Any, column: Column
    ) -> list[float]:
        values = []
        for place, text in enumerate(texts):
            try:
                values.append(convert(text))
            except ValueError:
                what = "a number" if column.type == "number" else _date_words(column)
                raise FormatError(
                    f"{self.where}: row {int(numbers[place])}, column {column.name}: not {what}: "
                    f"{text.strip()[:60]!r}; fix it, or leave it empty where it is not known"
                ) from None
        return values


def _date_words(column: Column) -> str:
    return f"a date as YYYY-MM-DD or {'MM/DD/YYYY' if column.month_first else 'DD.MM.YYYY'}"
