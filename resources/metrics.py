"""The measured value by which epochs, and runs of the same task, are compared. Needs no engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resources.quantities import loss, percent
from resources.words import marked


@dataclass(frozen=True)
class Metric:
    """A value of the event ``epoch``.

    Args:
        name: its field there.
        best_name, test_name: the fields of the last event of a run with the best of it, and with that of the
            best checkpoint on the test split where it was chosen on another one.
        title: as people read it.
        percent: it is shown as a percentage.
    """

    name: str
    best_name: str
    test_name: str
    title: str
    higher_is_better: bool
    percent: bool

    def text(self, value: float | None) -> str:
        """The value as it is shown; a dash for none."""
        if value is None or value != value:
            return "–"
        return percent(value) if self.percent else loss(value)

    def named_text(self, value: float) -> str:
        """The value among others without a heading: a percentage says enough, another has its name."""
        return self.text(value) if self.percent else f"{self.title} {self.text(value)}"


_METRICS = {
    "classes": Metric("validation_accuracy", "best_accuracy", "test_accuracy", "Accuracy", True, True),
    "numbers": Metric("validation_r2", "best_r2", "test_r2", "R²", True, False),
}


def metric_of(task: str | None) -> Metric:
    """The metric of a task; runs of earlier versions, which recorded none, have classes."""
    return _METRICS.get(task or "classes", _METRICS["classes"])


def rank_of(value: float, loss: float) -> tuple[float, float]:
    """What epochs are compared by: the higher metric is better, among equal ones the lower validation loss.

    A loss that is not a number ranks last.
    """
    return value, -loss if loss == loss else -math.inf


def task_of(event: Mapping[str, Any]) -> str:
    """The task of the run whose event this is, an ``epoch``, ``started`` or last one."""
    task = event.get("task")
    if task is None and isinstance(event.get("config"), Mapping):
        task = event["config"].get("task")
    return str(task) if task in _METRICS else "numbers" if "validation_r2" in event else "classes"


def metric_value(event: Mapping[str, Any]) -> float | None:
    """The metric of its task that an ``epoch`` event, or one like it, has measured; None for none."""
    value = event.get(metric_of(task_of(event)).name)
    return float(value) if isinstance(value, int | float) else None


def recalls(confusion: Sequence[Sequence[int]]) -> list[float | None]:
    """Of each class the share of its samples that were recognized; None for a class without samples.

    ``confusion[label][predicted]`` counts samples; lists or an array.
    """
    seen = [int(sum(row)) for row in confusion]
    return [int(row[at]) / seen[at] if seen[at] else None for at, row in enumerate(confusion)]


def balanced_accuracy(confusion: Sequence[Sequence[int]]) -> float | None:
    """The mean recall of the classes that have samples; None where there are none."""
    known = [value for value in recalls(confusion) if value is not None]
    return sum(known) / len(known) if known else None


def speed_unit(kind: str) -> str:
    """The unit of the speed of a training on data of this kind."""
    return marked("img/s") if kind in ("images", "stored") else marked("samples/s")
