"""RunResult: how a run ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from engine.training.events import now
from engine.training.progress import Progress
from resources.training_events import Ended

Outcome: TypeAlias = Literal["finished", "stopped", "cancelled"]


@dataclass(frozen=True)
class RunResult:
    """How a run ended; ``reason`` says why it stopped: early, interrupted or diverged."""

    outcome: Outcome
    reason: str
    step: int
    epoch: int
    validation_accuracy: float
    best_accuracy: float
    best_step: int
    seconds: float
    folder: str
    checkpoint: str

    @classmethod
    def of(
        cls, outcome: Outcome, reason: str, progress: Progress, seconds: float, folder: str, checkpoint: str
    ) -> RunResult:
        """The result of a run that stands at ``progress``."""
        return cls(
            outcome,
            reason,
            progress.step,
            progress.epoch,
            progress.validation_accuracy,
            progress.best_accuracy,
            progress.best_step,
            seconds,
            folder,
            checkpoint,
        )

    def event(self) -> Ended:
        """The last event of the run."""
        return Ended(
            event=self.outcome,
            time=now(),
            step=self.step,
            epoch=self.epoch,
            reason=self.reason,
            validation_accuracy=self.validation_accuracy,
            best_accuracy=self.best_accuracy,
            best_step=self.best_step,
            seconds=self.seconds,
            folder=self.folder,
            checkpoint=self.checkpoint,
        )
