"""ImportanceView: which settings matter for a metric, as it is shown; a forest is computed in a child."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from psygnal import Signal

from studio.session.problem_view import ProblemView
from studio.session.runs.diagrams.importance import (
    Method,
    Numbers,
    Setting,
    SettingImportance,
    codes,
    drawn,
    forest_available,
    importance,
    method_for,
    usable,
)
from studio.session.runs.diagrams.importance_job import ComputeImportance
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.single_job import SingleJob

MESSAGE_BYTES = 48_000
"""What is sent to the child: a pipe takes 64 kB at once, and more would wait until the child reads."""


class ImportanceView:
    """``rows`` has the settings, the most important first, by ``method``, for ``runs`` runs with a metric.

    While the forest is computed, ``computing``, there is the rank correlation; it stays where that fails.
    """

    changed: ClassVar = Signal()

    def __init__(self, tasks: RunningTasks, report: Callable[[ProblemView], object]) -> None:
        self._job = SingleJob(tasks, "The importance of settings was not computed", report=report)
        self._job.changed.connect(self._follow)
        self._asked: tuple[list[Setting], Numbers] | None = None
        self._waits = False
        self.rows: list[SettingImportance] = []
        self.method: Method = "correlation"
        self.runs = 0
        self.has_forest = forest_available()

    @property
    def computing(self) -> bool:
        """Whether a forest is computed for what was asked last."""
        return self._job.running

    def compute(self, settings: Sequence[Setting], metric: Numbers) -> None:
        """Compute the importance for a metric; nothing where that was asked before."""
        metric = np.asarray(metric, np.float64)
        asked = usable(*drawn(settings, metric))
        if self._asked is not None and _same(asked, self._asked):
            return
        self._asked, self._waits = asked, False
        self.runs = int(np.isfinite(metric).sum())
        self.has_forest = forest_available()
        self.method = "correlation"
        self.rows = importance(*asked, "correlation")
        if self.rows and method_for(self.runs, self.has_forest) == "forest":
            self._begin()
        self.changed.emit()

    def _begin(self) -> None:
        if self._job.running:
            self._waits = True
        elif self._asked is not None:
            settings, metric = self._asked
            settings, metric = drawn(settings, metric, MESSAGE_BYTES // 2 // (len(settings) + 1))
            self._job.start(
                ComputeImportance(
                    names=tuple(each.name for each in settings),
                    categories=tuple(each.categories for each in settings),
                    values=np.stack([codes(each.values) for each in settings]),
                    metric=codes(metric),
                )
            )

    def _follow(self) -> None:
        job = self._job
        if job.running:
            return
        if self._waits:
            self._waits = False
            self._begin()
        elif job.state == "done" and job.result is not None:
            self.rows = [SettingImportance(*row) for row in job.result["rows"]]
            self.method = "forest"
        self.changed.emit()

    def take(self) -> None:
        """Take what the child left. Called in the window's thread."""
        self._job.take()

    def close(self) -> None:
        """End the child."""
        self._job.close()


def _same(first: tuple[list[Setting], Numbers], second: tuple[list[Setting], Numbers]) -> bool:
    return (
        [(each.name, each.categories) for each in first[0]]
        == [(each.name, each.categories) for each in second[0]]
        and all(
            np.array_equal(one.values, other.values, equal_nan=True)
            for one, other in zip(first[0], second[0], strict=True)
        )
        and np.array_equal(first[1], second[1])
    )
