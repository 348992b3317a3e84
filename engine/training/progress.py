"""Where a training stands (counters that a checkpoint keeps) and what it has measured so far."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from resources.training_events import TrainingEvent

TAIL = 1000


@dataclass
class Progress:
    """Counters of a run. ``epoch`` counts finished epochs; ``step`` counts all steps done.

    Everything that a checkpoint must bring back is in ``state``; the rest says how fast it goes just now.
    """

    epochs: int = 0
    steps_per_epoch: int = 0
    step: int = 0
    epoch: int = 0
    step_in_epoch: int = 0
    loss_sum: float = 0.0
    correct_sum: float = 0.0
    samples: int = 0
    best_accuracy: float = -1.0
    best_step: int = -1
    validation_accuracy: float = -1.0
    evaluated_at: int = -1
    samples_per_second: float = 0.0
    seconds_left: float = 0.0

    _SAVED = (
        "step",
        "epoch",
        "step_in_epoch",
        "loss_sum",
        "correct_sum",
        "samples",
        "best_accuracy",
        "best_step",
        "validation_accuracy",
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

    def add(self, loss: float, accuracy: float, samples: int) -> None:
        """One step was done on ``samples`` images."""
        self.step += 1
        self.step_in_epoch += 1
        self.loss_sum += loss * samples
        self.correct_sum += accuracy * samples
        self.samples += samples

    def next_epoch(self) -> None:
        self.epoch += 1
        self.step_in_epoch = self.samples = 0
        self.loss_sum = self.correct_sum = 0.0

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {name: getattr(self, name) for name in self._SAVED}

    def set_state(self, state: dict[str, Any]) -> None:
        for name in self._SAVED:
            setattr(self, name, type(getattr(self, name))(state[name]))


@dataclass
class History:
    """The newest points (at most ``TAIL``) and all epochs of a run."""

    steps: deque[int] = field(default_factory=lambda: deque(maxlen=TAIL))
    losses: deque[float] = field(default_factory=lambda: deque(maxlen=TAIL))
    accuracies: deque[float] = field(default_factory=lambda: deque(maxlen=TAIL))
    epochs: list[dict[str, Any]] = field(default_factory=list)

    _EPOCH = ("epoch", "step", "train_loss", "train_accuracy", "validation_loss", "validation_accuracy")

    def take(self, event: TrainingEvent) -> None:
        """Remember what ``event`` measured."""
        if event["event"] == "steps":
            self.steps.extend(event["steps"])
            self.losses.extend(event["losses"])
            self.accuracies.extend(event["accuracies"])
        elif event["event"] == "epoch":
            values: dict[str, Any] = {**event}
            self.epochs.append({name: values[name] for name in self._EPOCH})

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
