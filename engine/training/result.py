"""RunResult: how a run ended."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from engine.training.events import now
from engine.training.reporting.progress import Progress
from resources.training_events import Ended

Outcome: TypeAlias = Literal["finished", "stopped", "cancelled"]


@dataclass(frozen=True)
class RunResult:
    """How a run ended; ``reason`` says why it stopped: early, interrupted or diverged.

    ``validation_metric`` and ``best_metric`` are values of the metric of the ``task``: accuracy or R². Where
    the best checkpoint was chosen on a validation split, ``tested`` has its figures on the test split.
    """

    outcome: Outcome
    reason: str
    step: int
    epoch: int
    validation_metric: float
    best_metric: float
    best_step: int
    seconds: float
    folder: str
    checkpoint: str
    task: str = "classes"
    validation_mae: float = math.nan
    tested: dict[str, float] = field(default_factory=dict)

    @property
    def validation_accuracy(self) -> float:
        """The metric measured last of a run that predicts classes; -1 where nothing was."""
        return -1.0 if math.isnan(self.validation_metric) else self.validation_metric

    @property
    def best_accuracy(self) -> float:
        """The best of it; -1 where nothing was measured."""
        return max(self.best_metric, -1.0)

    @classmethod
    def of(
        cls,
        outcome: Outcome,
        reason: str,
        progress: Progress,
        seconds: float,
        folder: str,
        checkpoint: str,
        tested: dict[str, float] | None = None,
    ) -> RunResult:
        """The result of a run that stands at ``progress``."""
        return cls(
            outcome,
            reason,
            progress.step,
            progress.epoch,
            progress.validation_metric,
            progress.best_metric,
            progress.best_step,
            seconds,
            folder,
            checkpoint,
            progress.task,
            progress.validation_mae,
            tested or {},
        )

    def event(self) -> Ended:
        """The last event of the run."""
        ended = Ended(
            event=self.outcome,
            time=now(),
            step=self.step,
            epoch=self.epoch,
            reason=self.reason,
            best_step=self.best_step,
            seconds=self.seconds,
            folder=self.folder,
            checkpoint=self.checkpoint,
        )
        if self.task == "classes":
            ended["validation_accuracy"], ended["best_accuracy"] = (
                self.validation_accuracy,
                self.best_accuracy,
            )
        elif not math.isnan(self.validation_metric):
            ended["validation_r2"], ended["validation_mae"] = self.validation_metric, self.validation_mae
            ended["best_r2"] = self.best_metric
        ended.update(self.tested)  # type: ignore[typeddict-item]
        return ended
