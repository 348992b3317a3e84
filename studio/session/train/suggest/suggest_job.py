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
    """What ``engine.training.suggest.Suggestion.as_plain`` gives."""

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


@job
class SuggestSettings:
    """Choose the settings of ``config`` that are not ``given``."""

    TITLE: ClassVar = "Suggesting settings"
    EVENTS: ClassVar = (Suggested, Estimated)

    config: dict[str, Any]
    given: tuple[str, ...]
    agreed: str = ""

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report ``suggested``, then ``estimated``."""
        from engine.training import TrainingConfig
        from engine.training.estimate import estimated
        from engine.training.suggest import suggested

        found = suggested(TrainingConfig.from_dict(self.config), self.given)
        emit({"event": "suggested", "time": time.time(), **found.as_plain()})
        cost = estimated(found.config)
        emit({"event": "estimated", "time": time.time(), "seconds": cost.seconds, "memory": cost.memory})
