"""The list of runs as it is looked at: filter, order, and whether hidden runs are shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from psygnal import SignalGroupDescriptor

from studio.session.runs.name_order import name_order
from studio.session.runs.runs_folder import Run
from studio.session.train.run_settings import title_of

# What runs can be sorted by, and whether the first click puts the largest first.
SORTS = {"date": True, "name": False, "accuracy": True, "loss": False, "time": False, "steps": True}


@dataclass
class RunListView:
    """``sort`` is one of ``SORTS``; ``filter`` has words that all must be in what is said about a run."""

    filter: str = ""
    sort: str = "date"
    descending: bool = True
    show_hidden: bool = False

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    def forget(self) -> None:
        """Every run in the usual order again: another project is open."""
        self.filter, self.show_hidden = "", False
        self.sort, self.descending = "date", True

    def sort_by(self, sort: str) -> None:
        """Sort by another one of ``SORTS``, or by the same one the other way round.

        Raises:
            KeyError: no such order.
        """
        if sort == self.sort:
            self.descending = not self.descending
        else:
            self.descending = SORTS[sort]
            self.sort = sort

    def arranged(self, runs: list[Run], titles: Mapping[str, str]) -> list[Run]:
        """Those of ``runs`` (newest first) that are shown, in their order; without a value of the metric
        last."""
        words = self.filter.casefold().split()
        found = [
            run
            for run in runs
            if (self.show_hidden or not run.notes.hidden) and (not words or matches(run, titles, words))
        ]
        if self.sort == "date":
            return found if self.descending else _oldest_first(found)
        if self.sort == "name":
            return sorted(
                found, key=lambda run: name_order(titles.get(run.path, run.name)), reverse=self.descending
            )
        # By accuracy; runs that predict numbers by theirs, R².
        measured = {
            run.path: run.figure if self.sort == "accuracy" else metric(run, self.sort) for run in found
        }
        known = [run for run in found if not math.isnan(measured[run.path])]
        known.sort(key=lambda run: measured[run.path], reverse=self.descending)
        return known + [run for run in found if math.isnan(measured[run.path])]


def _oldest_first(runs: list[Run]) -> list[Run]:
    """The trials of a sweep stay in their order."""
    groups = [(sweep, list(group)) for sweep, group in groupby(runs, key=lambda run: run.sweep)]
    return [run for sweep, group in groups[::-1] for run in (group if sweep else group[::-1])]


def metric(run: Run, name: str) -> float:
    """The value that a run is sorted by; NaN where it has none."""
    values = {
        "accuracy": run.accuracy,
        "r2": run.r2,
        "mae": run.mae,
        "loss": run.loss,
        "time": run.seconds,
        "steps": float(run.step),
    }
    return values.get(name, math.nan)


def matches(run: Run, titles: Mapping[str, str], words: list[str]) -> bool:
    """Whether each of the words (in lower case) is in its name, tags, note, model, data or state."""
    said = searched_text(run, titles)
    return all(word in said for word in words)


def searched_text(run: Run, titles: Mapping[str, str]) -> str:
    """Name, tags, note, model, data and state of a run, in lower case."""
    config = run.config
    data, model = str(config.get("data", "")), str(config.get("model", ""))
    return "\n".join(
        (
            titles.get(run.path, ""),
            run.name,
            run.sweep,
            *run.notes.tags,
            run.notes.note,
            model,
            title_of(model),
            data,
            title_of(data),
            run.state,
        )
    ).casefold()
