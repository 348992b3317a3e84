"""The curves of the runs shown: points of the training as they come, of the others from their journals."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QCoreApplication

from studio.session.runs import RunHistory
from studio.session.session import Session
from widgets.plot import CurvePlot


@dataclass
class Points:
    """All points of one run."""

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    epochs: list[tuple[int, float, float]] = field(default_factory=list)


class Curves:
    """Keeps the training's points, so that it can be looked away from and back at."""

    def __init__(self, session: Session, loss: CurvePlot, accuracy: CurvePlot) -> None:
        self._session, self._loss, self._accuracy = session, loss, accuracy
        self._live = Points()
        self._live_folder = ""
        self._shown: list[str] = []
        self._drawn: dict[str, tuple[int, int]] = {}  # how many points and epochs of a run's journal

    def show(
        self, folders: Sequence[str], live: str, histories: Mapping[str, RunHistory],
        titles: Mapping[str, str], colors: Mapping[str, int],
    ) -> None:  # fmt: skip
        """Draw these runs anew; ``live`` is the one whose points come through ``extend``."""
        self._loss.clear()
        self._accuracy.clear()
        self._shown, self._live_folder = list(folders), live
        self._drawn = {}
        alone = len(folders) == 1
        tr = QCoreApplication.translate
        for folder in folders:
            color = colors.get(folder, len(colors))
            train = tr("Curves", "train") if alone else titles.get(folder, folder)
            test = tr("Curves", "validation") if alone else tr("Curves", "{0}, validation").format(train)
            for plot in (self._loss, self._accuracy):
                plot.add_series(folder, train, color)
                plot.add_series(_test(folder), test, color, dashed=True)
            points = self._live if folder == live else _points(histories.get(folder))
            self._draw(folder, points)

    def extend(self, steps: list[int], losses: list[float], accuracies: list[float]) -> None:
        """More points of the training."""
        live = self._live
        live.steps += steps
        live.losses += losses
        live.accuracies += accuracies
        if self._live_folder in self._shown:
            self._loss.append(self._live_folder, steps, losses)
            self._accuracy.append(self._live_folder, steps, accuracies)

    def end_epoch(self, event: Mapping[str, Any]) -> None:
        """The training has read the test pictures."""
        point = (int(event["step"]), float(event["validation_loss"]), float(event["validation_accuracy"]))
        self._live.epochs.append(point)
        if self._live_folder in self._shown:
            self._loss.append(_test(self._live_folder), [point[0]], [point[1]])
            self._accuracy.append(_test(self._live_folder), [point[0]], [point[2]])

    def forget_live(self) -> None:
        """Another training begins."""
        self._live = Points()

    def continue_from(self, history: RunHistory, step: int) -> None:
        """A run goes on after ``step``: its earlier points are those of its journal."""
        points = _points(history)
        count = bisect_right(points.steps, step)
        epochs = [epoch for epoch in points.epochs if epoch[0] <= step]
        self._live = Points(points.steps[:count], points.losses[:count], points.accuracies[:count], epochs)

    def rewind(self, step: int) -> None:
        """The run goes on from an earlier checkpoint: what came after ``step`` will come once more."""
        live = self._live
        count = bisect_right(live.steps, step)
        del live.steps[count:], live.losses[count:], live.accuracies[count:]
        live.epochs = [epoch for epoch in live.epochs if epoch[0] <= step]

    def grow(self, folder: str, history: RunHistory) -> None:
        """Draw what the journal of a run that is shown has got since it was drawn."""
        points = _points(history)
        steps, epochs = self._drawn.get(folder, (0, 0))
        self._draw(folder, Points(
            points.steps[steps:], points.losses[steps:], points.accuracies[steps:], points.epochs[epochs:]
        ))  # fmt: skip
        self._drawn[folder] = (max(steps, len(points.steps)), max(epochs, len(points.epochs)))

    def _draw(self, folder: str, points: Points) -> None:
        self._drawn[folder] = (len(points.steps), len(points.epochs))
        self._loss.append(folder, points.steps, points.losses)
        self._accuracy.append(folder, points.steps, points.accuracies)
        if points.epochs:
            steps, losses, accuracies = zip(*points.epochs, strict=True)
            self._loss.append(_test(folder), steps, losses)
            self._accuracy.append(_test(folder), steps, accuracies)


def _test(folder: str) -> str:
    return f"{folder}/validation"


def _points(history: RunHistory | None) -> Points:
    if history is None:
        return Points()
    steps, losses, accuracies = list(history.steps), list(history.losses), list(history.accuracies)
    if any(later <= earlier for earlier, later in pairwise(steps)):
        # The run was resumed: what was done again counts, not what came after its checkpoint before.
        kept: list[int] = []
        for place, step in enumerate(steps):
            if kept and step <= steps[kept[-1]]:
                del kept[bisect_left(kept, step, key=steps.__getitem__) :]
            kept.append(place)
        steps, losses, accuracies = (
            [values[place] for place in kept] for values in (steps, losses, accuracies)
        )
    epochs = [
        (int(epoch["step"]), float(epoch.get("validation_loss", math.nan)),
         float(epoch.get("validation_accuracy", math.nan)))
        for epoch in history.epochs
    ]  # fmt: skip
    return Points(steps, losses, accuracies, epochs)
