"""RunningTasks: every task that runs, and the workers that tasks are started in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from psygnal import Signal

from studio.session.work.job import Event, Job
from studio.session.work.task import JobTask, Task
from studio.session.work.worker import Worker

Notify: TypeAlias = Callable[[], None]
MakeWorker: TypeAlias = Callable[[Notify], Worker]
T = TypeVar("T", bound=Task)


class RunningTasks:
    """Starts tasks; ``shown`` has those that are worth showing, ``changed`` is emitted when one changes.

    Args:
        make_worker: creates a worker that calls what it is given when it has events.
        notify: called from another thread when a worker has events.
        unusable: called with a message and details where a job that continues sent an event that can't be
            shown.
    """

    changed = Signal()

    def __init__(
        self,
        make_worker: MakeWorker,
        notify: Notify,
        unusable: Callable[[str, str], object] | None = None,
    ) -> None:
        self.make_worker, self.notify, self._unusable = make_worker, notify, unusable
        self._tasks: list[Task] = []
        self._spare: Worker | None = None

    @property
    def shown(self) -> tuple[Task, ...]:
        """The tasks that are worth showing now, in the order of their start."""
        return tuple(task for task in self._tasks if task.shown)

    @property
    def next_shown(self) -> float | None:
        """In how many seconds another task will be worth showing; None if none is to follow."""
        waits = [wait for task in self._tasks if (wait := task.shown_in)]
        return min(waits, default=None)

    def start(
        self,
        job: Job,
        follow: Callable[[Event], object],
        stop: Callable[[], object] | None = None,
        worker: Worker | None = None,
    ) -> JobTask:
        """Start ``job``, by default in the spare worker if there is one; see ``JobTask``."""
        return self.add(JobTask(job, worker or self._worker(), follow, stop, self._unusable))

    def add(self, task: T) -> T:
        """List a task until its end."""
        self._tasks.append(task)
        task.changed.connect(self._update)
        self.changed.emit()
        return task

    def new_worker(self) -> Worker:
        """A worker without a job, which is not the spare one."""
        return self.make_worker(self.notify)

    def warm_up(self) -> None:
        """Start a worker ahead, so that the next task does not wait for Python and the engine."""
        if self._spare is None:
            self._spare = self.new_worker()

    def close(self) -> None:
        """End the spare worker; the parts of the session end the tasks that they started."""
        if self._spare is not None:
            self._spare.close()
            self._spare = None

    def _update(self) -> None:
        self._tasks = [task for task in self._tasks if not task.ended]
        self.changed.emit()

    def _worker(self) -> Worker:
        spare, self._spare = self._spare, None
        if spare is not None and not spare.ended():
            return spare
        if spare is not None:
            spare.close()
        return self.new_worker()
