"""Measuring: one measurement of the edited model at a time, in a child process that can be ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from studio.session.code.one_job import Job, OneJob
from studio.session.measure_view import Measured, MeasureViewModel

if TYPE_CHECKING:
    from studio.session.worker import Worker


class Measuring:
    """Gives the job to a worker and shows what comes of it.

    Args:
        make_worker: starts a worker.
    """

    def __init__(self, make_worker: Callable[[], Worker]) -> None:
        self.view = MeasureViewModel()
        self._runs = OneJob(make_worker, self._take)
        self._of = ("", "", "", "")  # file, class, input and text that the figures are of
        self._now = ("", "", "", "")  # and those of the page

    def start(self, job: Job) -> None:
        """Measure; nothing while a measurement goes on."""
        if not self._runs.running:
            self.view.problem, self.view.measuring = "", True
            self._runs.start(job)

    def cancel(self) -> None:
        """End the measurement; what was shown before stays."""
        self._runs.forget()
        self._runs.kill()

    def edited(self, file: str, class_name: str, inputs: str, text: str) -> None:
        """This is edited now: figures of anything else are stale, those of another file are dropped."""
        self._now = (file, class_name, inputs, text)
        if self._of[0] != file:
            self.view.measured, self.view.problem = None, ""
        if self._runs.running and self._runs.job["file"] != file:
            self.cancel()
        self.view.stale = self.view.measured is not None and self._of != self._now

    def take(self) -> None:
        """Bring the view model up to date with what the worker has told."""
        if self._runs.take():
            self.view.measuring = False

    def close(self) -> None:
        """End what still runs."""
        self._runs.close()

    def _take(self, job: Job, event: dict[str, Any]) -> bool:
        view, kind = self.view, event["event"]
        if kind == "code_measured":
            self._of = (job["file"], job["class_name"], job["input_text"], job["text"])
            view.stale = self._of != self._now
            view.measured = Measured.of(event)
        elif kind in ("measure_failed", "failed"):
            place = f"line {event['line']}: " if event["line"] else ""
            what = f"{event['what']}; {event['do']}" if event["do"] else event["what"]
            view.problem = f"{place}{what}"
        elif kind == "worker_ended":
            view.problem = f"the process that measured has died: exit code {event['exit_code']}"
        else:
            return False
        return True
