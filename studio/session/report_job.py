"""The job that writes a report about a run, in a child process: a long journal takes a while to read."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from psygnal import Signal

from studio.session.jobs import Emit
from studio.session.problems import ProblemView, problem_from_event
from studio.session.worker import Worker


def report_job(folder: str, out: str) -> dict[str, Any]:
    """The job that writes a report about the run in ``folder`` to ``out``; the event ``reported`` ends it."""
    return {"job": "report", "folder": folder, "out": out}


def report(job: dict[str, Any], emit: Emit) -> None:
    """Do the job. Raises DataError, FormatError, SaveError."""
    from studio.session.report import write_report

    write_report(Path(job["folder"]), Path(job["out"]))
    emit({"event": "reported", "time": time.time(), "out": job["out"]})


class Reporting:
    """Reports that are being written; ``written`` carries the path of one that is there.

    Args:
        make_worker: a worker for one job. tell: told of problems.
    """

    written = Signal(str)

    def __init__(self, make_worker: Callable[[], Worker], tell: Callable[[ProblemView], None]) -> None:
        self._make_worker, self._tell = make_worker, tell
        self._workers: deque[Worker] = deque()

    def write(self, folder: str, out: str) -> None:
        """Begin to write a report."""
        worker = self._make_worker()
        self._workers.append(worker)
        worker.start(report_job(folder, out))

    def take(self) -> None:
        """Tell what has become of them."""
        for worker in list(self._workers):
            ended = worker.ended()
            for event in worker.take():
                self._follow(event)
            if ended:
                worker.close()
                self._workers.remove(worker)

    def _follow(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "reported":
            self.written.emit(event["out"])
        elif event["event"] == "failed" or (event["event"] == "worker_ended" and event["message"]):
            self._tell(problem_from_event(event, "The report could not be written"))

    def close(self) -> None:
        """End those that are not written yet."""
        while self._workers:
            self._workers.popleft().close()
