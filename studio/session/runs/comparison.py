"""Two or more runs next to each other: their results, their settings, and the source of their models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from resources.regular_files import open_regular
from studio.session.runs.run_list_view import metric
from studio.session.runs.run_titles import settings_of, value_text
from studio.session.runs.runs_folder import SOURCE, Run
from studio.session.train.run_settings import title_of_setting

# What is compared of a run next to its settings, and whether more is better.
RESULTS: dict[str, bool | None] = {
    "accuracy": True,
    "r2": True,
    "mae": False,
    "loss": False,
    "time": False,
    "steps": None,
}
_OF_TASK = ("accuracy", "r2", "mae")
MOST_FILES, MOST_BYTES = 200, 1_000_000


@dataclass(frozen=True)
class SettingRow:
    """One setting of all runs, an empty value where a run has none."""

    name: str
    values: tuple[str, ...]

    @property
    def title(self) -> str:
        """As the form shows it."""
        return title_of_setting(self.name)

    @property
    def differs(self) -> bool:
        """Whether not all have the same."""
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class ResultRow:
    """One result of all runs, NaN where it is not known. ``best`` is the place of the best; -1 where all are
    alike, fewer than two are known, or none is better than another."""

    name: str
    values: tuple[float, ...]
    best: int

    @property
    def difference(self) -> float:
        """The second less the first; NaN for other than two."""
        return self.values[1] - self.values[0] if len(self.values) == 2 else math.nan


def compared_settings(runs: Sequence[Run]) -> list[SettingRow]:
    """All settings that any of the runs has; those that differ first."""
    flat = [settings_of(run.config) for run in runs]
    names = dict.fromkeys(name for each in flat for name in each)
    rows = [
        SettingRow(name, tuple(value_text(name, each[name]) if name in each else "" for each in flat))
        for name in names
    ]
    return sorted(rows, key=lambda row: not row.differs)


def compared_results(runs: Sequence[Run]) -> list[ResultRow]:
    """Accuracy, loss, time and steps of the runs."""
    rows = []
    for name, more in RESULTS.items():
        values = tuple(metric(run, name) for run in runs)
        known = {value for value in values if not math.isnan(value)}
        if name in _OF_TASK and not known and name != runs[0].metric.name.removeprefix("validation_"):
            continue
        best = values.index(max(known) if more else min(known)) if len(known) > 1 and more is not None else -1
        rows.append(ResultRow(name, values, best))
    return rows


def source_of(run: Run) -> dict[str, str]:
    """The files of the model's source that the run keeps, by their paths; empty for a built-in model.

    No more than a megabyte of a file is read.

    Raises:
        DataError: a link among them. OSError: they can't be read.
    """
    from engine.files.run_source import source_files

    folder = Path(run.path) / SOURCE
    found: dict[str, str] = {}
    for path in source_files(Path(run.path))[:MOST_FILES]:
        if path.suffix == ".py":
            with open_regular(path) as file:
                found[path.relative_to(folder).as_posix()] = file.read(MOST_BYTES).decode(errors="replace")
    return found
