"""RateFinder: the search for a learning rate with the settings shown, in a worker of its own."""

from __future__ import annotations

from collections.abc import Callable

from studio.session.problem_view import ProblemView
from studio.session.train.rate_finder_job import FindRate
from studio.session.train.rate_finder_view import RateViewModel
from studio.session.train.run_settings import RunSettings, title_of
from studio.session.work.job import Event
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask


class RateFinder:
    """One search at a time; it may run next to a training.

    Args:
        tasks: starts the search.
        report: takes the problem of a search that failed.
    """

    def __init__(self, tasks: RunningTasks, report: Callable[[ProblemView], object]) -> None:
        self.view = RateViewModel()
        self._tasks, self._report = tasks, report
        self._task: JobTask | None = None

    @property
    def searching(self) -> bool:
        """True from the start until the worker has ended."""
        return self._task is not None

    def start(self, settings: RunSettings, agreed: str = "") -> None:
        """Try the learning rates of the view with these settings of a run; nothing while a search runs.

        ``agreed``: the digest of the user's code that may run.
        """
        if self._task is None:
            self.view.begin(search_title(settings))
            job = FindRate(settings.as_config(""), self.view.settings, agreed)
            self._task = self._tasks.start(job, self._follow)

    def cancel(self) -> None:
        """End the search at once; what was tried stays."""
        if self._task is not None:
            self._task.cancel()

    def forget(self) -> None:
        """Another project is open: end the search, and show nothing of it."""
        self.close()
        self.view.forget()

    def take(self) -> None:
        """Take what the worker left. Called in the window's thread."""
        if self._task is not None and self._task.take():
            self._task = None
            if self.view.last_problem is not None:
                self._report(self.view.last_problem)

    def _follow(self, event: Event) -> None:
        if event["event"] == "preparing" and self._task is not None:
            self._task.report(event["message"])
            return
        self.view.take(event)
        if self._task is not None and self.view.steps:
            self._task.report("", len(self.view.rates) / self.view.steps)

    def close(self) -> None:
        """End what still runs."""
        if self._task is not None:
            self._task.close()
            self._task = None


def search_title(settings: RunSettings) -> str:
    """Which network a search with these settings trains, in a few words."""
    return f"{title_of(settings.network)}, {settings.optimizer}, batch {settings.batch_size}"
