"""All points of one run: a column of numbers for each quantity, and where they lie on the x axis chosen."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.metrics import rank_of
from studio.session.runs.run_history import RunHistory

Floats = NDArray[np.float64]

QUANTITIES = ("loss", "accuracy", "rate", "throughput", "memory", "gradient")
"""What is measured at each step; loss and accuracy at the end of each epoch too."""
VALIDATED = {"loss": "validation_loss", "accuracy": "validation_accuracy"}
BASELINES = ("constant", "linear")
AXES = ("step", "epoch", "time")
MOST_STEPS = 1 << 15
"""Steps of a training that are kept while it runs, about 6 MB with what draws them; the journal has all."""
_SCALE = {"memory": 1e-6}


def _column() -> array[float]:
    return array("d")


@dataclass
class Points:
    """``columns`` are as long as ``steps``, NaN where nothing was measured; ``epochs`` are those that ended.

    The accuracy of an epoch is R² where a run predicts numbers; ``baseline`` is the event about simple
    models. ``elapsed`` are seconds of training. ``steps_per_epoch`` is 0 where it is not known. ``task`` is
    classes or numbers.
    """

    steps: array[float] = field(default_factory=_column)
    elapsed: array[float] = field(default_factory=_column)
    columns: dict[str, array[float]] = field(default_factory=lambda: {name: _column() for name in QUANTITIES})
    epochs: list[Mapping[str, Any]] = field(default_factory=list)
    steps_per_epoch: int = 0
    baseline: Mapping[str, Any] = field(default_factory=dict)
    task: str = "classes"

    def extend(self, steps: Sequence[float], values: Mapping[str, Any]) -> None:
        """Append steps; a value is a column of them, or one number for all. ``elapsed`` is that of the last
        step: those before lie evenly between it and the last known."""
        count = len(steps)
        before = self.elapsed[-1] if self.elapsed else 0.0
        end = values.get("elapsed", math.nan)
        self.elapsed.extend(np.linspace(before, end, count + 1)[1:].tolist())
        self.steps.extend(steps)
        for name, column in self.columns.items():
            given = values.get(name, math.nan)
            column.extend(given if isinstance(given, Sequence) else [given] * count)

    def keep(self, step: int) -> None:
        """Forget what came after ``step``."""
        count = bisect_right(self.steps, step)
        for column in (self.steps, self.elapsed, *self.columns.values()):
            del column[count:]
        self.epochs = [epoch for epoch in self.epochs if epoch["step"] <= step]

    def thin(self) -> bool:
        """Keep two of every four steps where there are too many: the lowest and the highest loss of them,
        so that the curve keeps its shape; whether it did. A loss that is not finite counts as the highest."""
        if len(self.steps) <= MOST_STEPS:
            return False
        whole = len(self.steps) // 4 * 4
        losses = np.array(self.columns["loss"][:whole]).reshape(-1, 4)
        losses = np.where(np.isfinite(losses), losses, np.inf)
        low, high = losses.argmin(1), losses.argmax(1)
        high = np.where(high == low, 3, high)  # all are equal
        begins = np.arange(0, whole, 4)
        pairs = np.sort(np.stack([begins + low, begins + high], 1), axis=1).ravel()
        kept = np.concatenate([pairs, np.arange(whole, len(self.steps))])
        for column in (self.steps, self.elapsed, *self.columns.values()):
            column[:] = array("d", np.array(column)[kept].tobytes())
        return True

    def after(self, steps: int, epochs: int) -> Points:
        """What came after so many steps and epochs."""
        return Points(
            self.steps[steps:],
            self.elapsed[steps:],
            {name: column[steps:] for name, column in self.columns.items()},
            self.epochs[epochs:],
            self.steps_per_epoch,
            self.baseline,
        )

    def xs(self, axis: str) -> Floats:
        """Where the steps lie: at their numbers, at epochs done, or at seconds of training."""
        if axis == "time":
            return np.array(self.elapsed)
        return self._of_steps(np.array(self.steps), axis)

    def values(self, quantity: str) -> Floats:
        """The values at the steps, in the unit that is shown."""
        return np.array(self.columns[quantity]) * _SCALE.get(quantity, 1.0)

    def validated(self, quantity: str, axis: str) -> tuple[Floats, Floats]:
        """Where epochs ended, and what was measured there; nothing for what is measured at steps only."""
        name = VALIDATED.get(quantity, "")
        ends = [epoch for epoch in self.epochs if name in epoch]
        if axis == "time":
            xs = np.array([float(epoch.get("seconds", math.nan)) for epoch in ends])
        else:
            xs = self._of_steps(np.array([float(epoch["step"]) for epoch in ends]), axis)
        return xs, np.array([float(epoch[name]) for epoch in ends])

    def epoch_marks(self, axis: str) -> Floats:
        """Where epochs ended."""
        if axis == "time":
            return np.array([float(epoch.get("seconds", math.nan)) for epoch in self.epochs])
        return self._of_steps(np.array([float(epoch["step"]) for epoch in self.epochs]), axis)

    def best(self, axis: str) -> float | None:
        """Where the epoch with the best accuracy ended, of equal ones the one with the lowest loss; None
        while
        there is none."""
        xs, accuracies = self.validated("accuracy", axis)
        losses = [e.get("validation_loss", math.nan) for e in self.epochs if VALIDATED["accuracy"] in e]
        known = [
            (rank_of(accuracy, loss), x)
            for accuracy, loss, x in zip(accuracies.tolist(), losses, xs.tolist(), strict=True)
            if math.isfinite(accuracy)
        ]
        return max(known, key=lambda each: each[0])[1] if known else None

    def _of_steps(self, steps: Floats, axis: str) -> Floats:
        if axis != "epoch":
            return steps
        length = self.steps_per_epoch or next((epoch["step"] for epoch in self.epochs), 0)
        # An epoch of unknown length has no place on this axis before it has ended.
        return steps / length if length else np.full(len(steps), math.nan)


def points_of(history: RunHistory | None) -> Points:
    """The points of a run's journal; what a resumed run did again counts once."""
    if history is None:
        return Points()
    increasing = _increasing(history.steps)
    columns: dict[str, Sequence[float]] = {
        "loss": history.losses,
        "accuracy": history.accuracies,
        **history.series,
    }
    nothing = [math.nan] * len(history.steps)
    chosen = {
        name: array("d", [columns.get(name, nothing)[place] for place in increasing]) for name in QUANTITIES
    }
    elapsed = np.array([columns.get("elapsed", nothing)[place] for place in increasing])
    epochs = [
        {
            "step": int(epoch["step"]),
            "seconds": epoch.get("seconds", math.nan),
            **validated_in(epoch),
        }
        for epoch in history.epochs
    ]
    return Points(
        array("d", [history.steps[place] for place in increasing]),
        array("d", _spread(elapsed).tolist()),
        chosen,
        epochs,
        history.steps_per_epoch,
        history.baseline,
        history.task,
    )


def validated_in(epoch: Mapping[str, Any]) -> dict[str, float]:
    """What the end of an epoch is drawn with; R² in the place of the accuracy of a run without classes."""
    found = {name: float(epoch.get(name, math.nan)) for name in VALIDATED.values()}
    if math.isnan(found["validation_accuracy"]):
        found["validation_accuracy"] = float(epoch.get("validation_r2", math.nan))
    return found


def _increasing(steps: Sequence[int]) -> Sequence[int]:
    """The places of the steps that count: where a run was resumed, what came after its checkpoint was done
    again."""
    if all(earlier < later for earlier, later in pairwise(steps)):
        return range(len(steps))
    increasing: list[int] = []
    for place, step in enumerate(steps):
        if increasing and step <= steps[increasing[-1]]:
            del increasing[bisect_left(increasing, step, key=steps.__getitem__) :]
        increasing.append(place)
    return increasing


def _spread(elapsed: Floats) -> Floats:
    """Steps reported together carry the time of the report: they lie evenly since the one before."""
    if not len(elapsed):
        return elapsed
    last = np.flatnonzero(np.append(np.diff(elapsed) != 0, True))
    return np.interp(np.arange(len(elapsed)), np.append(-1, last), np.append(0.0, elapsed[last]))
