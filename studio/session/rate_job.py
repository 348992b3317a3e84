"""The job of a worker that searches for a learning rate; imports the engine and the user's code."""

from __future__ import annotations

import time
from typing import Any

from studio.session.jobs import Emit, Inbox

TELL_SECONDS = 0.1


def rate_job(config: dict[str, Any], lowest: float, highest: float, steps: int) -> dict[str, Any]:
    """The job that tries rates from ``lowest`` to ``highest`` with the other settings of ``config``."""
    return {"job": "find_rate", "config": config, "lowest": lowest, "highest": highest, "steps": steps}


def find(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    """Do it: events ``rates_tried`` with those since the last one, then ``rate_found``."""
    from engine.training import TrainingConfig
    from engine.training.rate_finder import Tried, find_rate

    waiting: list[Tried] = []
    text_at = time.monotonic()
    stop: list[str] = []
    inbox.attach(stop.append)

    def tell_waiting() -> None:
        if waiting:
            emit(
                {
                    "event": "rates_tried",
                    "time": time.time(),
                    "steps": job["steps"],
                    "rates": [each.rate for each in waiting],
                    "losses": [each.loss for each in waiting],
                    "smoothed": [each.smoothed for each in waiting],
                }
            )
            waiting.clear()

    def tell(tried: Tried) -> None:
        nonlocal text_at
        waiting.append(tried)
        if time.monotonic() - text_at >= TELL_SECONDS:
            text_at = time.monotonic()
            tell_waiting()

    config = TrainingConfig.from_dict(job["config"])
    found = find_rate(config, job["lowest"], job["highest"], job["steps"], tell, lambda: "cancel" in stop)
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
