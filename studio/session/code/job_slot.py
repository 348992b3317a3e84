"""JobSlot: one job at a time in a child process that can be killed; its answer is delivered once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from studio.session.work.job import Event, Job
from studio.session.work.task import Task

if TYPE_CHECKING:
    from studio.session.work.worker import Worker


J = TypeVar("J", bound=Job)


class JobSlot(Generic[J]):
    """Gives a job to a worker, and forwards its events up to the answer.

    Args:
        make_worker: starts a worker.
        answered: called with (job, event); returns True for the answer: later events are ignored.
    """

    def __init__(
        self, make_worker: Callable[[], Worker], answered: Callable[[J, dict[str, Any]], bool]
    ) -> None:
        self._make_worker, self._tell = make_worker, answered
        self._task: Task | None = None
        self._answered = False
        self.job: J | None = None  # the one in progress, or the last one

    @property
    def running(self) -> bool:
        """Whether a job has begun and its process has not been seen to end."""
        return self._task is not None

    def start(self, job: J, worker: Worker | None = None) -> None:
        """Begin; only while nothing runs. ``worker`` is one that was made before."""
        assert self._task is None, "one job at a time"
        self.job, self._answered = job, False
        self._task = Task(job, worker or self._make_worker(), lambda event: self._follow(job, event))

    def forget(self) -> None:
        """Ignore the events of the running job."""
        self._answered = True

    def kill(self) -> None:
        """Kill the process; its earlier events are still delivered."""
        if self._task is not None:
            self._task.cancel()

    def take(self) -> bool:
        """Forward the worker's events; True if it has ended since the last call."""
        ended = self._task is not None and self._task.take()
        if ended:
            self._task = None
        return ended

    def _follow(self, job: J, event: Event) -> None:
        if not self._answered:
            self._answered = self._tell(job, dict(event))

    def close(self) -> None:
        """End what runs, at once."""
        if self._task is not None:
            self._task.close()
            self._task = None
