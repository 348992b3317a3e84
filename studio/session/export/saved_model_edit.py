"""SavedModelEdit: writes a saved model with changes, in a worker of its own, and knows how that went."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from psygnal import Signal

from studio.session.export.edit_job import EditModel
from studio.session.problem_view import ProblemView, problem_from_event
from studio.session.work.job import Event
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask


class SavedModelEdit:
    """One edit at a time. ``state`` is idle, editing, done, cancelled or failed; ``result`` the last event.

    Args:
        tasks: starts the edit.
        record: adds an edit that succeeded to the session's script.
        report: takes the problem of an edit that failed.
    """

    changed: ClassVar = Signal()

    def __init__(
        self,
        tasks: RunningTasks,
        record: Callable[[EditModel], object],
        report: Callable[[ProblemView], object],
    ) -> None:
        self._tasks, self._record, self._report = tasks, record, report
        self._task: JobTask | None = None
        self.state = "idle"
        self.problem: ProblemView | None = None
        self.result: Event | None = None

    def start(self, job: EditModel) -> None:
        """Write the model; nothing while an edit runs."""
        if self._task is None:
            self.state, self.problem, self.result = "editing", None, None
            self._task = self._tasks.start(job, self._follow)
            self.changed.emit()

    def cancel(self) -> None:
        """End the edit; an existing model at its target stays as it is."""
        if self._task is not None:
            self._task.cancel()

    def take(self) -> None:
        """Take what the worker left. Called in the window's thread."""
        task = self._task
        if task is None or not task.take():
            return
        self._task = None
        self.state = task.state if self.result is None else "done"
        if task.failure is not None:
            self.state, self.problem = "failed", problem_from_event(task.failure, "The model was not edited")
            self._report(self.problem)
        elif self.state == "done" and isinstance(task.job, EditModel):
            self._record(task.job)
        self.changed.emit()

    def _follow(self, event: Event) -> None:
        if event["event"] == "model_edited":
            self.result = event

    def close(self) -> None:
        """End what still runs."""
        if self._task is not None:
            self._task.close()
            self._task = None
