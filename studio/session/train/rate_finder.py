"""RateFinder: the search for a learning rate with the settings shown, in a worker of its own."""

from __future__ import annotations

from collections.abc import Callable

from resources.settings.rate import RateSettings
from studio.session.problem_view import ProblemView
from studio.session.train.rate_finder_job import FindRate
from studio.session.train.rate_finder_view import RateViewModel
from studio.session.train.run_settings import RunSettings, title_of
from studio.session.work.task import Task
from studio.session.work.worker import Worker


class RateFinder:
    """One search at a time; it may run next to a training.

    Args:
        make_worker: gives a worker that has nothing to do yet.
        report: takes the problem of a search that failed.
    """

    def __init__(self, make_worker: Callable[[], Worker], report: Callable[[ProblemView], object]) -> None:
        self.view = RateViewModel()
        self._make_worker, self._report = make_worker, report
        self._task: Task | None = None

    @property
    def searching(self) -> bool:
        """True from the start until the worker has ended."""
        return self._task is not None

    def start(self, settings: RunSettings, rates: RateSettings | None = None) -> None:
        """Try ``rates`` with these settings; nothing while a search runs."""
        if self._task is None:
            self.view.begin(f"{title_of(settings.model)}, {settings.optimizer}, batch {settings.batch_size}")
            job = FindRate(settings.as_config(""), rates or RateSettings())
            self._task = Task(job, self._make_worker(), self.view.take)

    def cancel(self) -> None:
        """End the search at once; what was tried stays."""
        if self._task is not None:
            self._task.cancel()

    def take(self) -> None:
        """Take what the worker left. Called in the window's thread."""
        if self._task is not None and self._task.take():
            self._task = None
            if self.view.last_problem is not None:
                self._report(self.view.last_problem)

    def close(self) -> None:
        """End what still runs."""
        if self._task is not None:
            self._task.close()
            self._task = None
