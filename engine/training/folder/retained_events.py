"""RetainedEvents: the events of its journal that a resumed run retains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from engine.files.journal import JournalEvent
from resources.training_events import LAST_KINDS

_TIMED = ("step", "epoch", *LAST_KINDS)
_LONGEST = 1e10  # seconds, three hundred years


@dataclass(frozen=True)
class RetainedEvents:
    """A checkpoint's step, and the evaluations that it knows of, each as its epoch and step."""

    step: int
    evaluations: frozenset[tuple[int, int]] = frozenset()

    def has(self, event: JournalEvent) -> bool:
        """Whether the event is not recorded again. ``parse_event`` has checked what it counts."""
        step, epoch = cast("int", event.get("step", 0)), cast("int", event.get("epoch", 0))
        if event.get("event") == "epoch" and step == self.step:
            # Perhaps it was recorded after the checkpoint of its step.
            return (epoch, step) in self.evaluations
        return step <= self.step


def elapsed_at(event: JournalEvent) -> float:
    """The seconds of training that an event of a journal records; 0 for none or an invalid value."""
    kind = event.get("event")
    seconds = event.get("elapsed" if kind == "step" else "seconds") if kind in _TIMED else None
    return float(seconds) if isinstance(seconds, float | int) and 0.0 <= seconds <= _LONGEST else 0.0
