"""Where a training stands (counters that a checkpoint keeps) and what it has measured so far."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.training.measuring.metrics import Metric, metric_of, rank_of
from resources.training_events import TrainingEvent

TAIL = 1000


@dataclass
class Progress:
    """Counters of a run. ``epoch`` counts finished epochs; ``step`` counts all steps done.

    ``best_metric`` and ``validation_metric`` are values of the task's metric, below every other and NaN until
    something was measured. ``best_loss`` is the validation loss of the best, below every other where a
    checkpoint of an earlier version does not say it. Everything that a checkpoint must bring back is in
    ``state``; the rest says how fast it goes just now.
    """

    epochs: int = 0
    steps_per_epoch: int = 0
    step: int = 0
    epoch: int = 0
    step_in_epoch: int = 0
    loss_sum: float = 0.0
    correct_sum: float = 0.0
    samples: int = 0
    best_metric: float = -math.inf
    best_loss: float = math.inf
    best_step: int = -1
    validation_metric: float = math.nan
    validation_mae: float = math.nan
    evaluated_at: int = -1
    samples_per_second: float = 0.0
    seconds_left: float = 0.0
    task: str = "classes"

    _SAVED = (
        "step",
        "epoch",
        "step_in_epoch",
        "loss_sum",
        "correct_sum",
        "samples",
        "best_step",
        "evaluated_at",
    )

    @property
    def total_steps(self) -> int:
        return self.epochs * self.steps_per_epoch

    @property
    def complete(self) -> bool:
        return self.epoch >= self.epochs

    @property
    def epoch_trained(self) -> bool:
        """Whether the epoch in progress has had all its steps, and is only to be measured."""
        return self.step_in_epoch >= self.steps_per_epoch

    @property
    def epoch_loss(self) -> float:
        """The mean training loss of the epoch in progress, over its images."""
        return self.loss_sum / self.samples if self.samples else 0.0

    @property
    def epoch_accuracy(self) -> float:
        """The training accuracy of the epoch in progress, each batch measured before its update."""
        return self.correct_sum / self.samples if self.samples else 0.0

    def add(self, loss: float, accuracy: float | None, samples: int) -> None:
        """One step was done on ``samples`` images; without accuracy where numbers are predicted."""
        self.step += 1
        self.step_in_epoch += 1
        self.loss_sum += loss * samples
        self.correct_sum += (accuracy or 0.0) * samples
        self.samples += samples

    def next_epoch(self) -> None:
        self.epoch += 1
        self.step_in_epoch = self.samples = 0
        self.loss_sum = self.correct_sum = 0.0

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        saved = {name: getattr(self, name) for name in self._SAVED}
        if self.task == "numbers":
            return {
                **saved,
                "best_metric": self.best_metric,
                "validation_metric": self.validation_metric,
                "validation_mae": self.validation_mae,
                "best_loss": self.best_loss,
            }
        value = self.validation_metric
        figures = {
            "best_accuracy": max(self.best_metric, -1.0),
            "validation_accuracy": -1.0 if math.isnan(value) else value,
        }
        # In the order of earlier versions, so that the same run writes the same files.
        order = (*self._SAVED[:-2], "best_accuracy", "best_step", "validation_accuracy", "evaluated_at")
        return {**{name: (saved | figures)[name] for name in order}, "best_loss": self.best_loss}

    def set_state(self, state: dict[str, Any]) -> None:
        for name in self._SAVED:
            setattr(self, name, type(getattr(self, name))(state[name]))
        self.best_loss = float(state.get("best_loss", -math.inf))
        if self.task == "numbers":
            self.best_metric, self.validation_metric = (
                float(state["best_metric"]),
                float(state["validation_metric"]),
            )
            self.validation_mae = float(state["validation_mae"])
            return
        best, value = float(state["best_accuracy"]), float(state["validation_accuracy"])
        self.best_metric = best if best >= 0 else -math.inf
        self.validation_metric = value if value >= 0 else math.nan

    @property
    def metric(self) -> Metric:
        """What epochs are compared by."""
        return metric_of(self.task)

    def measured(self, value: float, mae: float = math.nan, loss: float = math.inf) -> bool:
        """An evaluation at this step gave ``value`` of the metric; returns whether it is the best yet.

        Among equal values the one with the lowest validation ``loss`` is the best.
        """
        self.validation_metric, self.validation_mae, self.evaluated_at = value, mae, self.step
        best = rank_of(value, loss) > rank_of(self.best_metric, self.best_loss)
        if best:
            self.best_metric, self.best_loss, self.best_step = value, loss, self.step
        return best


def measured_before(state: Mapping[str, Any]) -> dict[str, float]:
    """The figures of the newest evaluation in the ``progress`` of a checkpoint, by their names in events;
    empty where nothing was measured.

    Raises LookupError, TypeError or ValueError where it is not that of a checkpoint.
    """
    if "best_metric" in state:
        r2, mae = float(state["validation_metric"]), float(state["validation_mae"])
        return {} if math.isnan(r2) else {"validation_r2": r2, "validation_mae": mae}
    accuracy = float(state["validation_accuracy"])
    return {"validation_accuracy": accuracy} if accuracy >= 0 else {}


@dataclass
class History:
    """The newest points (at most ``TAIL``) and all epochs of a run."""

    steps: deque[int] = field(default_factory=lambda: deque(maxlen=TAIL))
    losses: deque[float] = field(default_factory=lambda: deque(maxlen=TAIL))
    accuracies: deque[float] = field(default_factory=lambda: deque(maxlen=TAIL))
    epochs: list[dict[str, Any]] = field(default_factory=list)

    _EPOCH = (
        "epoch",
        "step",
        "train_loss",
        "train_accuracy",
        "validation_loss",
        "validation_accuracy",
        "validation_r2",
        "validation_mae",
    )

    def take(self, event: TrainingEvent) -> None:
        """Remember what ``event`` measured."""
        if event["event"] == "steps":
            self.steps.extend(event["steps"])
            self.losses.extend(event["losses"])
            self.accuracies.extend(event.get("accuracies", []))
        elif event["event"] == "epoch":
            values: dict[str, Any] = {**event}
            self.epochs.append({name: values[name] for name in self._EPOCH if name in values})

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {
            "steps": np.array(self.steps, np.int64),
            "losses": np.array(self.losses, np.float64),
            "accuracies": np.array(self.accuracies, np.float64),
            "epochs": [dict(epoch) for epoch in self.epochs],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self.steps = deque(state["steps"].tolist(), maxlen=TAIL)
        self.losses = deque(state["losses"].tolist(), maxlen=TAIL)
        self.accuracies = deque(state["accuracies"].tolist(), maxlen=TAIL)
        self.epochs = [dict(epoch) for epoch in state["epochs"]]
