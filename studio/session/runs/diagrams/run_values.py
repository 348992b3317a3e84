"""RunValues: settings and results of runs as columns, for diagrams: numbers where they are numbers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from resources import quantities
from studio.session.runs.run_titles import settings_of, value_text
from studio.session.runs.runs_folder import Run
from studio.session.train.run_settings import title_of_setting

Value = float | str | None
SLICE = 20
MOST_DISTINCT = 20


def _plain(value: float) -> str:
    return quantities.number(int(value) if value.is_integer() and abs(value) < 1e15 else value)


@dataclass(frozen=True)
class Measure:
    """A result of a run: its title, which of it is better, how it is written, and how it is read."""

    title: str
    better: Literal["more", "less", ""]
    text: Callable[[float], str]
    of: Callable[[Run], float]


MEASURES = {
    "accuracy": Measure("Accuracy", "more", quantities.percent, lambda run: run.accuracy),
    "r2": Measure("R²", "more", quantities.loss, lambda run: run.r2),
    "mae": Measure("Mean absolute error", "less", quantities.loss, lambda run: run.mae),
    "loss": Measure("Validation loss", "less", quantities.loss, lambda run: run.loss),
    "time": Measure("Training time", "less", quantities.duration, lambda run: run.seconds),
    "sample_time": Measure(
        "Time per sample", "less", quantities.duration, lambda run: 1 / run.samples_per_second
    ),
    "parameters": Measure("Parameters", "less", _plain, lambda run: run.parameters or math.nan),
    "bytes": Measure("Size of the export", "less", quantities.size, lambda run: run.export_bytes),
    "steps": Measure("Steps", "", _plain, lambda run: float(run.step)),
}


class RunValues:
    """The values of runs by column. Settings are flattened in slices, since of 10,000 runs that takes longer
    than a window may wait: call ``prepare`` until it returns True."""

    def __init__(self) -> None:
        self.runs: Sequence[Run] = ()
        self._flat: dict[str, tuple[Mapping[str, Any], dict[str, Value]]] = {}
        self._texts: dict[str, str] = {}
        self._next = 0
        self._counts: dict[str, int] = {}
        self._distinct: dict[str, set[Value]] = {}
        self._known: dict[str, int] = {}

    def set_runs(self, runs: Iterable[Run]) -> None:
        """Take these runs, which may be those of before with others."""
        self.runs = list(runs)
        paths = {run.path for run in self.runs}
        self._flat = {path: flat for path, flat in self._flat.items() if path in paths}
        self._next, self._counts, self._distinct = 0, {}, {}
        self._known = dict.fromkeys(MEASURES, 0)

    def prepare(self, seconds: float = math.inf) -> bool:
        """Read settings for so long; returns whether all have been read."""
        end = time.perf_counter() + seconds
        while self._next < len(self.runs):
            for run in self.runs[self._next : self._next + SLICE]:
                for name, measure in MEASURES.items():
                    self._known[name] += math.isfinite(measure.of(run))
                for name, value in self._settings(run).items():
                    self._counts[name] = self._counts.get(name, 0) + 1
                    distinct = self._distinct.setdefault(name, set())
                    if len(distinct) <= MOST_DISTINCT:
                        distinct.add(value)
            self._next += SLICE
            if time.perf_counter() > end:
                break
        return self._next >= len(self.runs)

    def _settings(self, run: Run) -> dict[str, Value]:
        known = self._flat.get(run.path)
        if known is None or known[0] is not run.config:
            flat = {name: self._value(name, value) for name, value in settings_of(run.config).items()}
            known = self._flat[run.path] = run.config, flat
        return known[1]

    def _value(self, name: str, value: Any) -> Value:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            return value_text(name, value)
        text = self._texts.get(value)
        if text is None:
            text = self._texts[value] = value_text(name, value)
        return text

    def settings(self) -> list[str]:
        """The settings that differ between the runs read so far; one that some runs lack differs."""
        return [name for name in self._distinct if self.distinct(name) > 1]

    def distinct(self, name: str) -> int:
        """How many values a setting has in the runs read so far, where a missing one counts; of many only
        that they are many."""
        found = self._distinct.get(name, set())
        return len(found | {None} if self._counts.get(name, 0) < min(self._next, len(self.runs)) else found)

    def measures(self) -> list[str]:
        """The results that any run has."""
        return [name for name in MEASURES if self._known.get(name)]

    def values(self, name: str) -> list[Value]:
        """The value of each run, None where it has none."""
        measure = MEASURES.get(name)
        if measure is not None:
            found = [measure.of(run) for run in self.runs]
            return [None if value != value else value for value in found]
        return [self._settings(run).get(name) for run in self.runs]

    @staticmethod
    def title(name: str) -> str:
        """The title of a column, as a table or an axis shows it."""
        return MEASURES[name].title if name in MEASURES else title_of_setting(name)

    def metric(self) -> str:
        """The result by which runs of their task are compared: that which most of them have."""
        return max(("accuracy", "r2", "loss"), key=lambda name: self._known.get(name, 0))
