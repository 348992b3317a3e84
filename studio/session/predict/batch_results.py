"""BatchResults: the first of many predictions, to be shown, and how many of all were right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from studio.session.predict.predict_view import rank

if TYPE_CHECKING:
    from studio.session.predict.batch_predictions import Item
    from studio.session.predict.model_info import ModelInfo

MOST_SHOWN = 1000
"""Rows that are held for the page; the file has all."""


@dataclass(frozen=True)
class ResultRow:
    """One sample: ``predicted`` and ``true`` are a class or the numbers, empty where there are none;
    ``confidence`` is the probability of the class, NaN for numbers."""

    name: str
    predicted: tuple[str | float, ...] = ()
    confidence: float = math.nan
    true: tuple[str | float, ...] = ()
    problem: str = ""


class BatchResults:
    """Collects predictions of the model ``info`` one by one.

    ``targets`` are the numbers that it predicts, with their units, empty for classes. ``total`` counts the
    predictions, ``known`` those whose true class or numbers are known, ``correct`` the right ones among them;
    ``errors`` has the sum of the absolute errors of each target.
    """

    def __init__(self, info: ModelInfo) -> None:
        self.rows: list[ResultRow] = []
        self.targets: tuple[tuple[str, str], ...] = ()
        self.total = self.known = self.correct = 0
        self._classes = info.classes
        if info.raw is not None and info.predicts_numbers:
            from engine.training.exporting.raw_inputs import without_unit

            units = {column.name: column.unit for column in info.raw.spec.columns}
            named = ((name, units.get(name, "")) for name in info.raw.spec.targets)
            self.targets = tuple((without_unit(name, unit), unit) for name, unit in named)
        self._numbers = info.predicts_numbers
        self.errors = np.zeros(len(self.targets))

    def take(self, item: Item, scores: NDArray[np.float64] | None, problem: str) -> None:
        """Add the scores of a sample, or why it has none."""
        row = ResultRow(item.name, problem=problem) if scores is None else self._row(item, scores)
        if len(self.rows) < MOST_SHOWN:
            self.rows.append(row)

    def _row(self, item: Item, scores: NDArray[np.float64]) -> ResultRow:
        self.total += 1
        if self._numbers or len(scores) == 1:
            predicted = tuple(float(score) for score in scores)
            true = self._true_numbers(item, len(predicted))
            if true and np.isfinite(differences := np.abs(np.subtract(predicted, true))).all():
                self.known += 1
                self.errors = self.errors + differences
            return ResultRow(item.name, predicted, true=true)
        name, share = rank(scores, self._classes)[0]
        true_class = self._true_class(item)
        if true_class:
            self.known += 1
            self.correct += true_class == (name,)
        return ResultRow(item.name, (name,), share, true_class)

    def _true_numbers(self, item: Item, count: int) -> tuple[float, ...]:
        true = tuple(float(each) for each in item.true if not isinstance(each, str))
        return true if self.targets and len(true) == count else ()

    def _true_class(self, item: Item) -> tuple[str, ...]:
        """The class as the model calls it; a label may be its number."""
        given = str(item.true[0]) if len(item.true) == 1 else ""
        if given in self._classes:
            return (given,)
        number = int(given) if given.isdecimal() else -1
        return (self._classes[number],) if 0 <= number < len(self._classes) else ()
