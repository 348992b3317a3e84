"""RunValues: the columns of runs that diagrams show: settings that differ, and results."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence

from studio.session.runs.measures import MEASURES, Value, common_metric
from studio.session.runs.runs_folder import Run
from studio.session.runs.table.columns import RunColumns, most_varied, others

SLICE = 20
MOST_DISTINCT = 20


class RunValues:
    """The values of runs by column. They are compared in slices, since of 10,000 runs that takes longer than
    a window may wait: call ``prepare`` until it returns True.

    Args:
        columns: those of the table, which knows all settings of the runs.
    """

    def __init__(self, columns: RunColumns) -> None:
        self.columns = columns
        self.runs: Sequence[Run] = ()
        self._next = 0
        self._distinct: dict[str, Counter[Value]] = {}
        self._known: dict[str, int] = {}

    def set_runs(self, runs: Iterable[Run]) -> None:
        """Take these runs, which the table has."""
        self.runs = list(runs)
        self._next = 0
        self._distinct = {name: Counter() for name in self.columns.settings()}
        self._known = dict.fromkeys(MEASURES, 0)

    def prepare(self, seconds: float = math.inf) -> bool:
        """Compare values for so long; returns whether all have been compared."""
        end = time.perf_counter() + seconds
        settings = [(found, self.columns[name].of) for name, found in self._distinct.items()]
        while self._next < len(self.runs):
            for run in self.runs[self._next : self._next + SLICE]:
                for name, measure in MEASURES.items():
                    self._known[name] += math.isfinite(measure.of(run))
                for found, of in settings:
                    if len(found) <= MOST_DISTINCT:
                        found[of(run)] += 1
            self._next += SLICE
            if time.perf_counter() > end:
                break
        return self._next >= len(self.runs)

    def settings(self) -> list[str]:
        """The settings that differ between the runs compared so far; one that some runs lack differs."""
        return [name for name, found in self._distinct.items() if len(found) > 1]

    def varied(self, most: int) -> list[str]:
        """The ``most`` settings that differ between the most runs, those with many values first of all."""
        found = {name: self._distinct[name] for name in self.settings()}
        many = {name: len(self.runs) for name, counts in found.items() if len(counts) > MOST_DISTINCT}
        return most_varied({name: many.get(name, others(counts)) for name, counts in found.items()}, most)

    def distinct(self, name: str) -> int:
        """How many values a setting has in the runs compared so far, where a missing one counts; of many
        only that they are many."""
        return len(self._distinct.get(name, ()))

    def measures(self) -> list[str]:
        """The results that any run has."""
        return [name for name in MEASURES if self._known.get(name)]

    def values(self, name: str) -> list[Value]:
        """The value of each run, None where it has none."""
        if name not in self.columns:
            return [None] * len(self.runs)
        of = self.columns[name].of
        return [of(run) for run in self.runs]

    def title(self, name: str) -> str:
        """The title of a column, as a table or an axis shows it."""
        return self.columns[name].title if name in self.columns else name

    def metric(self) -> str:
        """The result by which runs are compared, as in the table."""
        return common_metric(*(self._known.get(name, 0) for name in ("accuracy", "r2", "loss")))
