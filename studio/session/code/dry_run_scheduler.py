"""DryRunScheduler: what a trial of the edited model gives stands in a view model, one trial at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from studio.session.code.job_slot import JobSlot
from studio.session.code.trial import TextJob
from studio.session.code.trial_view import TrialViewModel
from studio.session.work.running_tasks import RunningTasks


class DryRunScheduler:
    """Gives a job to a worker and shows what comes of it.

    Args:
        tasks: starts the trials.
        answer: the event that has what was found; ``read`` makes plain values of it.
        failed: the event that says what is wrong.
        does: what the process does, for a message about its death.
    """

    def __init__(
        self,
        tasks: RunningTasks,
        answer: str,
        failed: str,
        read: Callable[[Mapping[str, Any]], Any],
        does: str,
    ) -> None:
        self.view = TrialViewModel()
        self._answer, self._failed, self._read, self._does = answer, failed, read, does
        self._runs = JobSlot[TextJob](tasks, self._take, self.cancel)
        self._dropped = False  # the last job was ended before its answer
        self._of: tuple[Any, ...] = ("",)  # file, class, input and text that the answer is of
        self._now: tuple[Any, ...] = ("",)  # and those of the page

    def start(self, job: TextJob) -> None:
        """Begin; nothing while a trial goes on."""
        if not self._runs.running:
            self._runs.start(job)
            self._begin()

    def follow(self, job: TextJob) -> None:
        """Begin where this is another job than the last one; one in progress is ended first."""
        if self._runs.job != job or self._dropped:
            if self._runs.running:
                self.cancel()
                self._runs.start(job)
            else:
                self.start(job)

    def cancel(self) -> None:
        """End the trial; what was shown before stays."""
        self._dropped = True
        self._runs.forget()
        self._runs.kill()

    def edited(self, file: str, class_name: str, inputs: str, text: str) -> None:
        """This is edited now: answers about anything else are stale, those about another file are dropped."""
        self._now = (file, class_name, inputs, text)
        if self._of[0] != file:
            self.view.found, self.view.problem = None, ""
        job = self._runs.job
        if self._runs.running and job is not None and job.file != file:
            self.cancel()
        self.view.stale = self.view.found is not None and self._of != self._now

    def take(self) -> None:
        """Update the view model with the worker's events."""
        if self._runs.take():
            self.view.running = False
            if self._runs.running:  # the one that waited
                self._begin()

    def close(self) -> None:
        """End what still runs."""
        self._runs.close()

    def _begin(self) -> None:
        self._dropped = False
        self.view.problem, self.view.running = "", True

    def _take(self, job: TextJob, event: dict[str, Any]) -> bool:
        view, kind = self.view, event["event"]
        if kind == self._answer:
            self._of = (job.file, job.class_name, job.input_text, job.text)
            view.stale = self._of != self._now
            view.found = self._read(event)
        elif kind in (self._failed, "failed"):
            place = f"line {event['line']}: " if event["line"] else ""
            what = f"{event['what']}; {event['do']}" if event["do"] else event["what"]
            view.problem = f"{place}{what}"
        elif kind == "worker_ended":
            view.problem = f"the process that {self._does} has died: exit code {event['exit_code']}"
        else:
            return False
        return True
