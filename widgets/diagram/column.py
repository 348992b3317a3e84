"""Column: one property of many rows, as numbers or as categories. No Qt."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from resources.quantities import NOTHING
from resources.quantities import number as format_number

Better = Literal["more", "less", ""]


def _number(value: float) -> str:
    return format_number(int(value) if value.is_integer() and abs(value) < 1e15 else value)


@dataclass(frozen=True, eq=False)
class Column:
    """``values`` has a number for each row, NaN where it has none.

    Of a column of categories the numbers are positions in ``labels``. ``better`` says whether more or less of
    it is better, empty where neither is; ``text`` writes a number with its unit.
    """

    name: str
    title: str
    values: NDArray[np.float64]
    labels: tuple[str, ...] = ()
    better: Better = ""
    text: Callable[[float], str] = _number

    @classmethod
    def of(
        cls,
        name: str,
        values: Iterable[object],
        title: str = "",
        better: Better = "",
        text: Callable[[float], str] = _number,
    ) -> Column:
        """A column of numbers if all values are; else of categories, sorted by their texts.

        None and an empty text stand for a missing value.
        """
        found = [None if value is None or value == "" else value for value in values]
        present = [value for value in found if value is not None]
        title = title or name
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
            numbers = np.array([_float(value) for value in found], np.float64)
            return cls(name, title, numbers, better=better, text=text)
        words = [None if value is None else " ".join(str(value).split()) for value in found]
        labels = tuple(
            sorted({each for each in words if each is not None}, key=lambda each: (each.casefold(), each))
        )
        places = {label: float(place) for place, label in enumerate(labels)}
        codes = np.array([math.nan if each is None else places[each] for each in words], np.float64)
        return cls(name, title, codes, labels, better)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_categorical(self) -> bool:
        """Whether the values are positions in ``labels``."""
        return bool(self.labels)

    def known(self) -> NDArray[np.bool_]:
        """Which rows have a finite value."""
        return np.isfinite(self.values)

    def distinct(self) -> NDArray[np.float64]:
        """The different finite values, ascending."""
        found = np.sort(self.values[self.known()])
        first = np.ones(len(found), bool)
        first[1:] = found[1:] != found[:-1]
        return found[first]  # np.unique imports numpy.ma, for which the window would stand still

    def suits_log(self) -> bool:
        """Whether the numbers are positive, range over several powers of ten, and most are near the least."""
        known = self.values[self.known()]
        if self.is_categorical or not len(known) or known.min() <= 0:
            return False
        low, high = float(known.min()), float(known.max())
        if math.log10(high) - math.log10(low) < 1.5:
            return False
        return float(np.sort(known)[len(known) // 2]) / high < 0.25

    def text_of(self, row: int) -> str:
        """The value of a row in words; a dash where it has none."""
        return self.words(float(self.values[row]))

    def words(self, value: float) -> str:
        """A value in words."""
        if math.isnan(value):
            return NOTHING
        if math.isinf(value):
            return format_number(value)
        return self.labels[int(value)] if self.labels else self.text(value)


def _float(value: object) -> float:
    if not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # an integer of more than 308 digits
        return math.inf if value > 0 else -math.inf
