"""StallDetector: notices a training that does not answer or make a step, and suggests what to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from studio.session.train.train_view import TrainViewModel

ANSWER_SECONDS = 3.0
STEP_SECONDS = 5.0
# What comes from the process whatever its training does.
_NO_SIGN = ("vitals", "pong", "output", "program", "worker_ready")


class StallDetector:
    """Follows one training after another; ``look`` is called now and then while one runs.

    A request that was answered is not waited for: what a stop does then (the last evaluation) may take long.
    The start has as long as data and model take to be made, so it is only said how long it takes.

    Args:
        clock: seconds that only go forward; tests give their own.
    """

    def __init__(self, view: TrainViewModel, clock: Callable[[], float] = time.monotonic) -> None:
        self._view, self._clock = view, clock
        self._sign = clock()
        self._asked: float | None = None

    def begin(self) -> None:
        """A training was asked for."""
        self._sign, self._asked = self._clock(), None
        self.look()

    def asked(self, command: str) -> None:
        """A request was sent to the training; one to go on, or for a checkpoint, is not waited for."""
        if command in ("pause", "stop_early", "interrupt", "cancel"):
            self._asked = self._clock()
        elif command == "resume":
            self._asked, self._sign = None, self._clock()
        self.look()

    def heard(self, event: Mapping[str, Any]) -> None:
        """The process sent an event."""
        kind = event["event"]
        if kind not in _NO_SIGN:
            self._sign = self._clock()
            if kind in ("paused", "stopping") or not self._view.busy:
                self._asked = None
            elif self._asked is not None:
                self._asked = self._sign
            self.look()

    def look(self) -> None:
        """Bring ``unanswered`` and ``quiet`` of the view model up to date."""
        view, moment = self._view, self._clock()
        waited = moment - self._asked if self._asked is not None and view.busy else 0.0
        quiet = moment - self._sign
        expected = view.state in ("starting", "running") and not view.evaluating
        view.quiet = int(quiet) if expected and quiet >= STEP_SECONDS else 0
        unanswered = waited >= ANSWER_SECONDS
        if unanswered != view.unanswered:
            view.unanswered = unanswered
            view.update_why_not()
