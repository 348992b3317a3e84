"""JobSlot: one job at a time in a child process, and the newest one that waits for its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from studio.session.work.job import Event, Job
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask
from studio.session.work.worker import Worker

J = TypeVar("J", bound=Job)


class JobSlot(Generic[J]):
    """Gives a job to a worker, and forwards its events up to the answer.

    Args:
        tasks: starts the jobs.
        answered: called with (job, event); returns True for the answer: later events are ignored.
        stop: what the user's cancelling of a job does; None kills its process.
        spare: whether the worker of the next job is made ready ahead, so that it does not wait for Python.
    """

    def __init__(
        self,
        tasks: RunningTasks,
        answered: Callable[[J, dict[str, Any]], bool],
        stop: Callable[[], object] | None = None,
        spare: bool = False,
    ) -> None:
        self._tasks, self._answered, self._stop, self._has_spare = tasks, answered, stop, spare
        self._task: JobTask | None = None
        self._spare: Worker | None = None
        self._next: J | None = None
        self.job: J | None = None  # the one in progress, or the last one

    @property
    def running(self) -> bool:
        """Whether a job has begun and its process has not been seen to end."""
        return self._task is not None

    def start(self, job: J) -> None:
        """Begin now, or when the running job has ended, in the place of one that waits."""
        if self._task is not None:
            self._next = job
            return
        spare, self._spare = self._spare, None
        if spare is not None and spare.ended():
            spare.close()
            spare = None
        self.job = job
        worker = spare or self._tasks.new_worker()
        self._task = self._tasks.start(job, lambda event: self._follow(job, event), self._stop, worker)

    def forget(self) -> None:
        """Ignore the events of the running job, and drop the one that waits."""
        self._next = None
        if self._task is not None:
            self._task.forget()

    def kill(self) -> None:
        """Kill the process; its earlier events are still delivered."""
        if self._task is not None:
            self._task.kill()

    def take(self) -> bool:
        """Forward events, and start the job that waits; True if one has ended since the last call."""
        if self._task is None or not self._task.take():
            return False
        self._task = None
        following, self._next = self._next, None
        if following is not None:
            self.start(following)
        elif self._has_spare and self._spare is None:
            self._spare = self._tasks.new_worker()
        return True

    def _follow(self, job: J, event: Event) -> None:
        if self._answered(job, dict(event)) and self._task is not None:
            self._task.forget()

    def close(self) -> None:
        """End what runs, at once."""
        self._next = None
        if self._task is not None:
            self._task.close()
            self._task = None
        if self._spare is not None:
            self._spare.close()
            self._spare = None
