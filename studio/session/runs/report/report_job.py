"""The job that writes a report about a run, in a child process: a long journal takes a while to read."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict

from psygnal import Signal

from studio.session.problem_view import ProblemView, problem_from_event
from studio.session.work.job import Emit, Inbox, job
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask

if TYPE_CHECKING:
    from studio.session.project.session_script import SessionScript


class Reported(TypedDict):
    """The report was written to ``out``."""

    event: Literal["reported"]
    time: float
    out: str


@job
class WriteReport:
    """Write a report about the run in ``folder`` to ``out``."""

    TITLE: ClassVar = "Writing {0}"
    PAGE: ClassVar = "train"
    EVENTS: ClassVar = (Reported,)

    folder: str
    out: str

    @property
    def subject(self) -> str:
        return Path(self.out).name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``reported``. Raises DataError, FormatError, SaveError."""
        from studio.session.runs.report import write_report

        write_report(Path(self.folder), Path(self.out))
        emit({"event": "reported", "time": time.time(), "out": self.out})

    def record(self, script: SessionScript) -> None:
        """Write the report again, next to the script's runs."""
        from studio.session.project.session_script import Out

        script.add("report", script.run(self.folder), "--out", Out(Path(self.out).name))


class ReportWriter:
    """Reports that are being written; ``written`` carries the path of one that is there.

    Args:
        tasks: starts the jobs. tell: called with problems.
    """

    written = Signal(str)

    def __init__(self, tasks: RunningTasks, tell: Callable[[ProblemView], None]) -> None:
        self._tasks, self._tell = tasks, tell
        self._writing: deque[JobTask] = deque()

    def write(self, folder: str, out: str) -> None:
        """Begin to write a report."""
        self._writing.append(self._tasks.start(WriteReport(folder, out), self._follow))

    def take(self) -> None:
        """Tell what has become of them."""
        for task in list(self._writing):
            if task.take():
                self._writing.remove(task)

    def _follow(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "reported":
            self.written.emit(event["out"])
        elif event["event"] == "failed" or (event["event"] == "worker_ended" and event["message"]):
            self._tell(problem_from_event(event, "The report could not be written"))

    def close(self) -> None:
        """End those that are not written yet."""
        while self._writing:
            self._writing.popleft().close()
