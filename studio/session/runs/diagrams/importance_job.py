"""The job that computes the importance of settings by a forest: scikit-learn takes a second to import."""

from __future__ import annotations

import time
from typing import ClassVar, Literal, TypedDict

import numpy as np

from studio.session.runs.diagrams.importance import Setting, importance
from studio.session.work.job import Emit, Inbox, job


class ImportanceComputed(TypedDict):
    """``rows`` has name, value, error and direction of each setting, the most important first."""

    event: Literal["importance"]
    time: float
    rows: list[tuple[str, float, float, int]]


@job
class ComputeImportance:
    """The importance of settings for a metric; ``values`` [settings, runs] and ``metric`` are ``codes``.

    ``categories`` says which settings are not numbers.
    """

    DELAY: ClassVar = 2.0
    TITLE: ClassVar = "Computing the importance of settings"
    EVENTS: ClassVar = (ImportanceComputed,)

    names: tuple[str, ...]
    categories: tuple[bool, ...]
    values: np.ndarray
    metric: np.ndarray

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``importance``.

        Raises:
            ImportError: scikit-learn is not installed.
        """
        settings = [
            Setting(name, np.where(values < 0, np.nan, values), categories)
            for name, values, categories in zip(self.names, self.values, self.categories, strict=True)
        ]
        rows = importance(settings, self.metric.astype(np.float64), "forest")
        emit(
            {
                "event": "importance",
                "time": time.time(),
                "rows": [(each.name, each.value, each.error, each.direction) for each in rows],
            }
        )
