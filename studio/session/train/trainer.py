"""Trainer: the training in its child process: started, commanded and followed."""

from __future__ import annotations

from collections.abc import Callable

from resources.settings import RUN_SETTINGS
from studio.session.train.stall_detector import StallDetector
from studio.session.train.train_job import Train
from studio.session.train.train_view import TrainViewModel
from studio.session.work.call_once import CallOnce
from studio.session.work.job import RATE, Event
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask


class Trainer:
    """One training at a time, and ``view``, which shows it.

    ``once`` does what an event's changes ask for after all of them.

    Args:
        follow: called with each event, after the view has taken it.
        ended: called when the child has exited.
        stop: what cancelling it in the list of tasks does.
    """

    def __init__(
        self,
        view: TrainViewModel,
        tasks: RunningTasks,
        follow: Callable[[Event], object],
        ended: Callable[[], None],
        stop: Callable[[], object],
    ) -> None:
        self.stall_detector, self.once = StallDetector(view), CallOnce()
        self._view, self._tasks = view, tasks
        self._after, self._ended, self._stop = follow, ended, stop
        self._task: JobTask | None = None
        for signal in (
            view.events.state,
            view.events.message,
            view.events.step,
            view.events.quiet,
            view.events.unanswered,
        ):
            signal.connect(self._report)

    @property
    def running(self) -> bool:
        """True from the start until the child has exited."""
        return self._task is not None

    @property
    def pid(self) -> int:
        """The process id of the child; 0 where there is none."""
        return 0 if self._task is None else self._task.pid

    def start(self, job: Train) -> None:
        """Train in a child process; the view has begun."""
        self.stall_detector.begin()
        self._task = self._tasks.start(job, self._follow, self._stop)
        self._report()

    def command(self, name: str) -> None:
        """Send a command such as ``pause``; without a training, nothing."""
        if self._task is not None:
            self._task.send(name)  # first, so that it is being done while the window says so
            self._view.asked(name)
            self.stall_detector.asked(name)

    def change_rate(self, rate: float) -> None:
        """Train with another learning rate from the next step on. Raises ValueError where it is none."""
        problem = RUN_SETTINGS["learning_rate"].problem(rate)
        if problem:
            raise ValueError(f"learning_rate: {problem}")
        if self._task is not None:
            self._view.rate_asked = rate
            self._task.send(f"{RATE}{rate!r}")

    def kill(self) -> None:
        """Kill a training that does not answer; its last checkpoint stays."""
        if self._task is not None:
            self._task.kill()

    def take(self) -> None:
        """Bring the view up to date with the child's events."""
        if self._task is not None and self._task.take():
            self._task = None
            self._ended()

    def close(self) -> None:
        """End a training that still runs."""
        if self._task is not None:
            self._task.close()
            self._task = None

    def _follow(self, event: Event) -> None:
        with self.once.block():
            self._view.take(event)
            self.stall_detector.heard(event)
            self._after(event)

    def _report(self) -> None:
        view = self._view
        if self._task is None:
            return
        if view.busy:
            self._task.report(view.waiting or view.message, view.progress if view.total_steps else None)
        else:
            self._task.rest()  # it has ended, and its process exits
