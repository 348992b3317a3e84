"""What a training tells its listeners: plain dicts, the same in pipe, journal and JSON lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypedDict

Event: TypeAlias = dict[str, Any]
"""One event: ``event`` (its kind), ``time`` (seconds since 1970) and the fields that the class of the kind
names."""


class Started(TypedDict):
    """``started``: the first event of a run that could be set up; ``step`` and ``epoch`` are above 0 where it
    was resumed."""

    config: dict[str, Any]
    folder: str
    step: int
    epoch: int
    steps_per_epoch: int
    total_steps: int
    train_samples: int
    test_samples: int
    classes: list[str]
    parameters: int
    resumed_from: str


class Preparing(TypedDict):
    """``preparing``: before ``started``, while something slow is fetched."""

    message: str


class Steps(TypedDict):
    """``steps``: every step since the last such event (about ten a second), and where the run stands."""

    steps: list[int]
    losses: list[float]
    accuracies: list[float]
    step: int
    epoch: int
    total_steps: int
    samples_per_second: float
    seconds_left: float
    elapsed: float


class Hard(TypedDict):
    """A test picture that the model reads worst: the least probability given to its true class."""

    index: int
    label: int
    predicted: int
    probability: float


class Epoch(TypedDict):
    """``epoch``: the end of one pass; ``confusion[label][predicted]`` counts test pictures.

    ``partial`` is True where the epoch was stopped early. ``pictures`` (uint8 array, one picture for each of
    ``hardest``) goes to listeners, not into files.
    """

    epoch: int
    step: int
    partial: bool
    train_loss: float
    train_accuracy: float
    validation_loss: float
    validation_accuracy: float
    confusion: list[list[int]]
    hardest: list[Hard]
    best: bool
    seconds: float


class Checkpoint(TypedDict):
    """``checkpoint``: a file was written; ``reason`` is start, steps, epoch, asked, stop or end."""

    step: int
    epoch: int
    path: str
    reason: str
    seconds: float
    bytes: int


class CheckpointFailed(TypedDict):
    """``checkpoint_failed``: a file could not be written; the training goes on, earlier files are as they
    were."""

    step: int
    path: str
    message: str


class Diverged(TypedDict):
    """``diverged``: the loss is not a finite number any more."""

    step: int
    epoch: int
    loss: float
    checkpoint: str
    message: str


class Ended(TypedDict):
    """``finished``, ``stopped`` (``reason``: early, interrupted or diverged) and ``cancelled``: the last
    event."""

    step: int
    epoch: int
    reason: str
    validation_accuracy: float
    best_accuracy: float
    best_step: int
    seconds: float
    folder: str
    checkpoint: str


class Failed(TypedDict):
    """``failed``: the last event of a run that an error ended; ``file`` and ``line`` are the user's where
    known."""

    error: str
    message: str
    where: str
    what: str
    do: str
    file: str
    line: int
    traceback: str
    step: int
    checkpoint: str


KINDS = (
    "preparing", "started", "steps", "evaluating", "epoch", "checkpoint", "checkpoint_failed", "paused",
    "resumed", "stopping", "diverged", "finished", "stopped", "cancelled", "failed",
)  # fmt: skip
LAST_KINDS = ("finished", "stopped", "cancelled", "failed")


class EventListener(Protocol):
    """A listener may be a plain callable, or an object with this method."""

    def on_event(self, event: Event) -> None: ...


Listener: TypeAlias = EventListener | Callable[[Event], None]


def make_event(event: str, **values: Any) -> Event:
    """An event of the kind ``event`` that happens now."""
    return {"event": event, "time": time.time(), **values}


def deliver(listener: Listener, event: Event) -> None:
    """Hand ``event`` to one listener."""
    handler = getattr(listener, "on_event", None)
    if handler is not None:
        handler(event)
    else:
        listener(event)  # type: ignore[operator]


def as_lines(event: Event) -> list[Event]:
    """The event as it stands in a journal and in lines of JSON: without pictures, and ``steps`` one by
    one."""
    if event["event"] != "steps":
        return [{name: value for name, value in event.items() if name != "pictures"}]
    shared = {name: event[name] for name in ("time", "epoch", "samples_per_second", "elapsed")}
    return [
        {"event": "step", "step": step, "loss": loss, "accuracy": accuracy, **shared}
        for step, loss, accuracy in zip(event["steps"], event["losses"], event["accuracies"], strict=True)
    ]
