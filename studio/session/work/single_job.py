"""SingleJob: one job of a kind at a time in a worker of its own, with its state, result and problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from psygnal import Signal

from studio.session.problem_view import ProblemView, problem_from_event
from studio.session.work.job import Event, Job
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask


class SingleJob:
    """``state`` is idle, running, done, cancelled or failed; ``result`` the job's last event; ``message`` and
    ``progress`` (0 to 1, None where it is not known) say how far a running one is.

    Args:
        tasks: starts the job.
        failed: the title of the problem of one that failed.
        record: takes each job that succeeded.
        report: takes the problem of a job that failed.
    """

    changed: ClassVar = Signal()

    def __init__(
        self,
        tasks: RunningTasks,
        failed: str,
        record: Callable[[Any], object] = lambda job: None,
        report: Callable[[ProblemView], object] = lambda problem: None,
    ) -> None:
        self._tasks, self._failed, self._record, self._report = tasks, failed, record, report
        self._task: JobTask | None = None
        self.job: Job | None = None
        self.state = "idle"
        self.message = ""
        self.progress: float | None = None
        self.problem: ProblemView | None = None
        self.result: Event | None = None

    @property
    def running(self) -> bool:
        """Whether there is a job."""
        return self.state == "running"

    def start(self, job: Job) -> None:
        """Start the job; nothing while another one runs."""
        if self._task is None:
            self.job, self.state, self.problem, self.result = job, "running", None, None
            self.message, self.progress = "", None
            self._task = self._tasks.start(job, lambda event: None)
            self.changed.emit()

    def cancel(self) -> None:
        """End the job; existing files that it would replace stay as they are."""
        if self._task is not None:
            self._task.cancel()

    def forget(self) -> None:
        """Another project is open: show nothing of a job that has ended."""
        if self._task is None:
            self.job, self.state, self.problem, self.result = None, "idle", None, None
            self.message, self.progress = "", None
            self.changed.emit()

    def take(self) -> None:
        """Take what the worker left. Called in the window's thread."""
        task = self._task
        if task is None:
            return
        ended = task.take()
        if not ended and (self.message, self.progress) == (task.message, task.progress):
            return
        self.message, self.progress = task.message, task.progress
        if ended:
            self._task, self.result = None, task.result
            self.state = task.state if task.result is None else "done"
            if task.failure is not None:
                self.state, self.problem = "failed", problem_from_event(task.failure, self._failed)
                self._report(self.problem)
            elif self.state == "done":
                self._record(task.job)
        self.changed.emit()

    def close(self) -> None:
        """End what still runs."""
        if self._task is not None:
            self._task.close()
            self._task = None
