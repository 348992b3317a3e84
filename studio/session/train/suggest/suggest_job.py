"""The job that suggests a model and settings for data."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Literal, TypedDict

from studio.session.work.job import Emit, Inbox, job


class ChoiceMade(TypedDict):
    """A setting, its suggested value, and why."""

    setting: str
    value: Any
    reason: str


class Suggested(TypedDict):
    """What ``engine.training.suggesting.suggest.Suggestion.as_plain`` gives."""

    event: Literal["suggested"]
    time: float
    settings: dict[str, Any]
    choices: list[ChoiceMade]
    data: dict[str, Any]
    models: dict[str, str]


class Estimated(TypedDict):
    """What the training will take: seconds, and bytes of memory; measured with a few of its steps."""

    event: Literal["estimated"]
    time: float
    seconds: float
    memory: int


class SuggestProgress(TypedDict):
    """What is done now, and how many of ``total`` parts are done."""

    event: Literal["suggest_progress"]
    time: float
    message: str
    done: float
    total: int


@job
class SuggestSettings:
    """Choose the settings of ``config`` that are not ``given``."""

    TITLE: ClassVar = "Suggesting settings"
    PAGE: ClassVar = "train"
    EVENTS: ClassVar = (Suggested, Estimated, SuggestProgress)

    config: dict[str, Any]
    given: tuple[str, ...]
    agreed: str = ""

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report ``suggested``, then ``estimated``, and how far it is."""
        from engine.training import TrainingConfig
        from engine.training.suggesting.estimate import estimated
        from engine.training.suggesting.suggest import PHASES, suggested

        def report(words: str, done: float) -> None:
            emit(
                {
                    "event": "suggest_progress",
                    "time": time.time(),
                    "message": words,
                    "done": done,
                    "total": PHASES,
                }
            )

        found = suggested(TrainingConfig.from_dict(self.config), self.given, report=report)
        emit({"event": "suggested", "time": time.time(), **found.as_plain()})
        cost = estimated(found.config, report)
        emit({"event": "estimated", "time": time.time(), "seconds": cost.seconds, "memory": cost.memory})
