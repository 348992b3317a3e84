"""Measuring: one measurement of the edited model at a time, in a child process that can be ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
        self._make_worker = make_worker
        self._worker: Worker | None = None
        self._told = False
        self._job: dict[str, Any] = {}
        self._text = ("", "", "")  # file, class and text that the figures are of
        self._now = ("", "", "")  # and those of the editor

    def start(self, job: dict[str, Any]) -> None:
        """Measure; nothing while a measurement goes on."""
        if self._worker is None:
            self._job, self._told = job, False
            self.view.problem, self.view.measuring = "", True
            self._worker = self._make_worker()
            self._worker.start(job)

    def cancel(self) -> None:
        """End the measurement; what was shown before stays."""
        if self._worker is not None:
            self._told = True
            self._worker.kill()

    def edited(self, file: str, class_name: str, text: str) -> None:
        """This is edited now: figures of anything else are stale, those of another file are dropped."""
        self._now = (file, class_name, text)
        if self._text[0] != file:
            self.view.measured, self.view.problem = None, ""
        if self._worker is not None and self._job["file"] != file:
            self.cancel()
        self.view.stale = self.view.measured is not None and self._text != self._now

    def take(self) -> None:
        """Bring the view model up to date with what the worker has told."""
        worker = self._worker
        if worker is None:
            return
        ended = worker.ended()
        for event in worker.take():
            self._take(dict(event))
        if ended:
            worker.close()
            self._worker, self.view.measuring = None, False

    def close(self) -> None:
        """End what still runs."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _take(self, event: dict[str, Any]) -> None:
        if self._told:
            return
        view, kind = self.view, event["event"]
        self._told = kind in ("code_measured", "measure_failed", "failed", "worker_ended")
        if kind == "code_measured":
            self._text = (self._job["file"], self._job["class_name"], self._job["text"])
            view.stale = self._text != self._now
            view.measured = Measured.of(event)
        elif kind in ("measure_failed", "failed"):
            place = f"line {event['line']}: " if event["line"] else ""
            what = f"{event['what']}; {event['do']}" if event["do"] else event["what"]
            view.problem = f"{place}{what}"
        elif kind == "worker_ended":
            view.problem = f"the process that measured has died: exit code {event['exit_code']}"
