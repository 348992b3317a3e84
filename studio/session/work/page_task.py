"""PageTask: the one task that the pages Graph and Export share, next to a training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from studio.session.problem_view import ProblemView
from studio.session.work.job import Job
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask


class PageView(Protocol):
    """The view of the page that asked for the task."""

    @property
    def last_problem(self) -> ProblemView | None:
        """Why the task failed."""

    def begin(self) -> None:
        """A task was asked for."""

    def take(self, event: Mapping[str, Any]) -> None:
        """Follow one event of the worker."""


class PageTask:
    """One task at a time.

    Args:
        changed: called when one begins or has ended.
        report: takes the problem of one that failed.
    """

    def __init__(
        self, tasks: RunningTasks, changed: Callable[[], object], report: Callable[[ProblemView], object]
    ) -> None:
        self._tasks, self._changed, self._report = tasks, changed, report
        self._task: JobTask | None = None
        self._view: PageView | None = None

    @property
    def running(self) -> bool:
        """Whether there is a task."""
        return self._task is not None

    def begin(self, view: PageView, job: Job) -> None:
        """Start the job; ``view`` follows it."""
        view.begin()
        self._view = view
        self._task = self._tasks.start(job, view.take)
        self._changed()

    def take(self) -> None:
        """Take what the worker left."""
        if self._task is not None and self._task.take():
            self._task, view, self._view = None, self._view, None
            self._changed()
            if view is not None and view.last_problem is not None:
                self._report(view.last_problem)

    def cancel(self) -> None:
        """Stop the task in progress."""
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """End a task that still runs."""
        if self._task is not None:
            self._task.close()
            self._task = None
