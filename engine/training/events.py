"""Listeners to the events of ``resources.training_events``, and the events that several modules build."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from engine.training.problem import Problem
from resources.training_events import Diverged, Failed, TrainingEvent


@runtime_checkable
class EventListener(Protocol):
    """A listener may be a plain callable, or an object with this method."""

    def on_event(self, event: TrainingEvent) -> None: ...


Listener: TypeAlias = EventListener | Callable[[TrainingEvent], None]


def now() -> float:
    """The time that an event carries."""
    return time.time()


def failed_event(problem: Problem, step: int, checkpoint: str) -> Failed:
    """The event about an error that ended a run, or a job before there was one."""
    return Failed(
        event="failed", time=now(), error=problem.error, message=problem.message, where=problem.where,
        what=problem.what, do=problem.do, file=problem.file, line=problem.line, traceback=problem.traceback,
        step=step, checkpoint=checkpoint,
    )  # fmt: skip


def diverged_event(step: int, epoch: int, loss: float, rate: float, checkpoint: str, at: int) -> Diverged:
    """The event about a loss that is not finite; ``checkpoint`` is that of step ``at``, empty for none."""
    remains = f"; the checkpoint of step {at} is kept" if checkpoint else ""
    return Diverged(
        event="diverged", time=now(), step=step, epoch=epoch, loss=loss, checkpoint=checkpoint,
        message=f"step {step}: the loss is not a finite number: {loss} with learning rate "
        f"{rate:g}{remains}; start again with a smaller learning rate, e.g. {rate / 10:g}",
    )  # fmt: skip
