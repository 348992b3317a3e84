"""RateViewModel: what the learning-rate finder shows: rates tried so far, their losses, the suggestion."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psygnal import SignalGroupDescriptor

from resources.settings.rate import RateSettings
from studio.session.equality import same_number
from studio.session.problem_view import ProblemView, problem_from_event


@dataclass
class RateViewModel:
    """``rates``, ``losses`` and ``smoothed`` are equally long, one for each step; ``settings`` say which
    rates are tried.

    ``state`` is idle, searching, done, cancelled or failed; ``why`` says why there is no suggestion (NaN).
    """

    settings: RateSettings = field(default_factory=RateSettings)
    state: str = "idle"
    title: str = ""
    rates: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    smoothed: list[float] = field(default_factory=list)
    steps: int = 0
    suggestion: float = math.nan
    why: str = ""
    stopped: str = ""
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor(
        equality_operators={"suggestion": same_number}
    )

    def begin(self, title: str) -> None:
        """A search was asked for, with the settings of ``title``."""
        self.rates, self.losses, self.smoothed, self.steps = [], [], [], 0
        self.suggestion, self.why, self.stopped, self.last_problem = math.nan, "", "", None
        self.title, self.state = title, "searching"

    def forget(self) -> None:
        """Another project is open."""
        self.begin("")
        self.state = "idle"

    def take(self, event: Mapping[str, Any]) -> None:
        """Follow one event of the worker."""
        kind = event["event"]
        if kind == "rates_tried":
            self.losses = [*self.losses, *event["losses"]]
            self.smoothed = [*self.smoothed, *event["smoothed"]]
            self.steps = event["steps"]
            self.rates = [
                *self.rates,
                *event["rates"],
            ]  # the last, so that the others are complete when it is emitted
        elif kind == "rate_found":
            self.why, self.stopped = event["why"], event["stopped"]
            self.suggestion = event["suggestion"]
            self.state = "done"
        elif kind == "failed":
            self.last_problem = problem_from_event(event, "The search for a learning rate failed")
            self.state = "failed"
        elif kind == "worker_ended" and self.state == "searching":
            if not event["killed"]:
                self.last_problem = problem_from_event(event, "The searching process has died")
            self.state = "cancelled" if event["killed"] else "failed"
