"""The results that runs are measured by: titles, what is better, how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from resources import quantities
from studio.session.runs.runs_folder import Run

Value = float | str | None
"""What a run has in a column: a number, a text, or nothing."""


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


def common_metric(accuracy: int, r2: int, loss: int) -> str:
    """The result by which runs are compared, of so many that have each: accuracy, or R² where more have that;
    the loss where none has either."""
    if not accuracy and not r2:
        return "loss" if loss else "accuracy"
    return "accuracy" if accuracy >= r2 else "r2"
