"""The job that searches for a learning rate."""

from __future__ import annotations

import math
import time
from typing import Any, ClassVar, Literal, TypedDict

from resources.settings.rate import RateSettings
from resources.training_events import Preparing
from studio.session.work.job import Emit, Inbox, job

TELL_SECONDS = 0.1


class RatesTried(TypedDict):
    """Learning rates tried since the last such event, of ``steps`` in all."""

    event: Literal["rates_tried"]
    time: float
    steps: int
    rates: list[float]
    losses: list[float]
    smoothed: list[float]


class RateFound(TypedDict):
    """The result: a learning rate, or None and why there is none."""

    event: Literal["rate_found"]
    time: float
    suggestion: float | None
    why: str
    stopped: str


class _Cancelled(Exception):
    """The search is cancelled while images are read."""


@job
class FindRate:
    """Try the learning rates of ``rates`` with the other settings of ``config``."""

    TITLE: ClassVar = "Finding a learning rate"
    PAGE: ClassVar = "train"
    EVENTS: ClassVar = (RatesTried, RateFound, Preparing)

    config: dict[str, Any]
    rates: RateSettings
    agreed: str = ""

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report events ``rates_tried``, then ``rate_found``."""
        from engine.training import TrainingConfig
        from engine.training.data import read_images
        from engine.training.rate_finder import Tried, find_rate
        from engine.training.suggesting.suggest import with_suggestions

        waiting: list[Tried] = []
        sent_at = time.monotonic()
        stop: list[str] = []
        inbox.attach(stop.append)

        def tell_waiting() -> None:
            if waiting:
                emit(
                    {
                        "event": "rates_tried",
                        "time": time.time(),
                        "steps": self.rates.steps,
                        "rates": [each.rate for each in waiting],
                        "losses": [each.loss for each in waiting],
                        "smoothed": [each.smoothed for each in waiting],
                    }
                )
                waiting.clear()

        def tell(tried: Tried) -> None:
            nonlocal sent_at
            waiting.append(tried)
            if time.monotonic() - sent_at >= TELL_SECONDS:
                sent_at = time.monotonic()
                tell_waiting()

        def reading(message: str) -> None:
            emit({"event": "preparing", "time": time.time(), "message": message})

        def require_wanted() -> None:
            if "cancel" in stop:
                raise _Cancelled

        config = with_suggestions(TrainingConfig.from_dict(self.config))
        try:
            read_images(config, reading, require_wanted)
        except _Cancelled:
            nothing = {"suggestion": math.nan, "why": "", "stopped": "cancelled"}
            emit({"event": "rate_found", "time": time.time(), **nothing})
            return
        found = find_rate(config, **vars(self.rates), report=tell, stopped=lambda: "cancel" in stop)
        tell_waiting()
        emit(
            {
                "event": "rate_found",
                "time": time.time(),
                "suggestion": found.suggestion,
                "why": found.why,
                "stopped": found.stopped,
            }
        )
