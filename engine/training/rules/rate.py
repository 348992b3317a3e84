"""The learning rate changed by hand while a training runs: what it does, and how a resumed run repeats it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from engine.core.errors import ArgumentError
from engine.files.journal import JournalEvent
from engine.optimizer.lr import LRScheduler
from resources.settings import SETTINGS


def require_rate(value: object) -> float:
    """``value`` as a learning rate. Raises ArgumentError where it is none."""
    problem = SETTINGS["learning_rate"].problem(value)
    if problem:
        raise ArgumentError(f"learning_rate: {problem}")
    return float(cast(float, value))


@dataclass(frozen=True)
class Rate:
    """What was set by hand: the rate where it is constant, and what a schedule's rates are multiplied by."""

    learning_rate: float
    factor: float

    def state(self) -> dict[str, float]:
        """As a checkpoint keeps it."""
        return {"learning_rate": self.learning_rate, "factor": self.factor}

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> Rate:
        """What ``state()`` gave. Raises LookupError, TypeError or ValueError for anything else."""
        rate, factor = float(state["learning_rate"]), float(state["factor"])
        if not (0 < rate < math.inf and 0 < factor < math.inf):
            raise ValueError(f"learning_rate {rate}, factor {factor}")
        return cls(rate, factor)


class Scaled(LRScheduler):
    """A schedule whose rates are all multiplied by ``factor``; its state is that of the schedule."""

    def __init__(self, schedule: LRScheduler, factor: float) -> None:
        # Not the base's, which moves on.
        self.schedule, self.factor = schedule, factor

    def __call__(self) -> float:
        return float(self.schedule()) * self.factor

    def get_lr(self) -> float:
        return float(self.schedule()) * self.factor

    def step(self, epoch: int | None = None) -> None:
        self.schedule.step(epoch)

    def state_dict(self) -> dict[str, Any]:
        return self.schedule.state_dict()

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        self.schedule.set_state_dict(state_dict)


@dataclass(frozen=True)
class Change:
    """A change that a journal records: it holds after ``step``; ``recorded`` where its line is retained."""

    step: int
    rate: Rate
    recorded: bool


class Pending:
    """The changes that a resumed run has still to repeat.

    Args:
        changes: in their order.
    """

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self._changes = list(changes)

    def due(self, step: int) -> Change | None:
        """The next one, where it holds after ``step`` or before; asked until there is none."""
        return self._changes.pop(0) if self._changes and self._changes[0].step <= step else None


def changes_after(events: Iterable[JournalEvent], step: int) -> list[Change]:
    """The changes at ``step`` or later, in order, which a run that resumes from its checkpoint repeats.

    Those of a run that then diverged are not repeated: it would only diverge again.
    """
    found: list[Change] = []
    for event in events:
        if event.get("event") == "stopped" and event.get("reason") == "diverged":
            found.clear()
        at = event.get("step")
        if event.get("event") == "rate_changed" and isinstance(at, int) and at >= step:
            try:
                found.append(Change(at, Rate.of_state(event), at == step))
            except (LookupError, TypeError, ValueError, OverflowError):
                continue  # a damaged line is passed over, as elsewhere
    return found
