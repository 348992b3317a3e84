"""Suggestions: a model and settings that fit the chosen data, found by a worker of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psygnal import SignalGroupDescriptor

from resources.settings import RUN_SETTINGS
from studio.session.equality import same_number
from studio.session.problem_view import ProblemView, problem_from_event
from studio.session.train.run_settings import RunSettings
from studio.session.train.suggest.choice_view import ChoiceView
from studio.session.train.suggest.suggest_job import SuggestSettings
from studio.session.work.job import Event
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask


@dataclass
class SuggestionView:
    """``choices`` are those of the last suggestion, for the data called ``data``; ``seconds`` and ``memory``
    (in bytes) what a training with them takes, NaN and 0 while that is measured. ``models`` has for each
    network why it does not fit, "" where it does. ``message`` says what is done now."""

    working: bool = False
    message: str = ""
    data: str = ""
    choices: tuple[ChoiceView, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    seconds: float = math.nan
    memory: int = 0
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor(
        equality_operators={"seconds": same_number}
    )

    def forget(self) -> None:
        """Other data was chosen."""
        self.data, self.choices, self.models = "", (), {}
        self.seconds, self.memory = math.nan, 0


class Suggestions:
    """One suggestion at a time.

    Args:
        tasks: starts the job.
        report: takes the problem of a suggestion that failed.
        use: takes the suggested settings by name.
    """

    def __init__(
        self,
        tasks: RunningTasks,
        report: Callable[[ProblemView], object],
        use: Callable[[dict[str, Any]], object],
    ) -> None:
        self.view = SuggestionView()
        self._tasks, self._report, self._use = tasks, report, use
        self._task: JobTask | None = None

    def start(
        self,
        settings: RunSettings,
        before: Mapping[str, Any],
        agreed: Callable[[RunSettings], str] = lambda settings: "",
    ) -> None:
        """Choose the settings that have their defaults, once those of ``before`` have these values again.

        ``agreed`` gives the digest of the user's code that may run with settings.
        """
        if self._task is not None:
            return
        for name, value in before.items():
            settings = settings.changed(name, value)
        given = tuple(
            name
            for name, each in RUN_SETTINGS.items()
            if name != "given" and getattr(settings, name) != each.default
        )
        self.view.forget()
        self.view.data, self.view.last_problem, self.view.message = settings.data, None, ""
        job = SuggestSettings(settings.as_config(""), given, agreed(settings))
        self._task = self._tasks.start(job, self._follow)
        self.view.working = True

    def forget(self) -> None:
        """Other data was chosen: what was suggested, or is being looked for, means nothing there."""
        self._end()
        self.view.forget()

    def take(self) -> None:
        """Take what the worker left. Called in the window's thread."""
        if self._task is not None and self._task.take():
            self._task, self.view.working = None, False
            if self.view.last_problem is not None:
                self._report(self.view.last_problem)

    def _follow(self, event: Event) -> None:
        view, kind = self.view, event["event"]
        if kind == "suggested":
            choices = tuple(ChoiceView(**each) for each in event["choices"])
            for each in choices:
                _ = each.text  # raises for a value that can't be shown
            view.models, view.choices = dict(event["models"]), choices
            self._use(dict(event["settings"]))
        elif kind == "suggest_progress":
            view.message = str(event["message"])
        elif kind == "estimated":
            view.memory, view.seconds = event["memory"], event["seconds"]
        elif kind == "failed" or (kind == "worker_ended" and not event["killed"] and event["message"]):
            if view.last_problem is None:
                view.last_problem = problem_from_event(event, "No settings could be suggested")

    def _end(self) -> None:
        if self._task is not None:
            self._task.close()
            self._task, self.view.working = None, False

    def close(self) -> None:
        """End what still runs."""
        self._end()
