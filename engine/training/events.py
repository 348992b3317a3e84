"""Listeners to the events of ``resources``, and the events that several modules build."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from engine.training.problem import Problem
from resources.export_events import Exported, ExportProgress, Quantized, QuantizeProgress
from resources.training_events import (
    Diverged,
    Epoch,
    Failed,
    Preparing,
    ProgramShown,
    RateChanged,
    TrainingEvent,
)

if TYPE_CHECKING:
    from engine.training.measuring.evaluation import Evaluation
    from engine.training.reporting.progress import Progress

Event: TypeAlias = TrainingEvent | ProgramShown | ExportProgress | Exported | QuantizeProgress | Quantized


@runtime_checkable
class EventListener(Protocol):
    """A listener may be a plain callable, or an object with this method."""

    def on_event(self, event: TrainingEvent) -> None: ...


Listener: TypeAlias = EventListener | Callable[[TrainingEvent], None]


def now() -> float:
    """The time that an event carries."""
    return time.time()


def preparing_event(message: str) -> Preparing:
    """The event that a run waits for something slow: its data, its processes, its kernels."""
    return Preparing(event="preparing", time=now(), message=message)


def rate_event(progress: Progress, rate: float, before: float, factor: float) -> RateChanged:
    """The event that the learning rate was changed by hand, from ``before`` to ``rate``."""
    return RateChanged(
        event="rate_changed", time=now(), step=progress.step, epoch=progress.epoch + 1, learning_rate=rate,
        before=before, factor=factor,
    )  # fmt: skip


def epoch_event(result: Evaluation, progress: Progress, partial: bool, best: bool, seconds: float) -> Epoch:
    """The event about an evaluation at ``progress``; fields that don't apply to its task are absent."""
    event = Epoch(
        event="epoch", time=now(), epoch=progress.epoch + 1, step=progress.step, partial=partial,
        train_loss=progress.epoch_loss, validation_loss=result.loss, best=best, seconds=seconds,
        pictures=result.shown,
    )  # fmt: skip
    if result.task == "numbers":
        event["task"], event["worst"] = result.task, result.worst
        event["validation_r2"], event["validation_mae"] = result.r2, result.mae
        return event
    event["train_accuracy"], event["validation_accuracy"] = progress.epoch_accuracy, result.accuracy
    event["confusion"], event["hardest"] = result.confusion.tolist(), result.hardest
    if result.top5 is not None:
        event["validation_top5"] = result.top5
    return event


def failed_event(problem: Problem, step: int, checkpoint: str) -> Failed:
    """The event about an error that ended a run, or a job before there was one."""
    return Failed(
        event="failed", time=now(), error=problem.error, message=problem.message, where=problem.where,
        what=problem.what, do=problem.do, file=problem.file, line=problem.line, traceback=problem.traceback,
        step=step, checkpoint=checkpoint,
    )  # fmt: skip


def diverged_event(progress: Progress, loss: float, rate: float, checkpoint: str, at: int) -> Diverged:
    """The event about a loss of the step in progress that is not finite; ``checkpoint`` is that of step
    ``at``, empty for none."""
    step, epoch = progress.step + 1, progress.epoch + 1
    remains = f"; the checkpoint of step {at} is kept" if checkpoint else ""
    return Diverged(
        event="diverged", time=now(), step=step, epoch=epoch, loss=loss, checkpoint=checkpoint,
        message=f"step {step}: the loss is not a finite number: {loss} with learning rate "
        f"{rate:g}{remains}; start again with a smaller learning rate, e.g. {rate / 10:g}",
    )  # fmt: skip
