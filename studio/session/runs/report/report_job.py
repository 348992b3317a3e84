"""The job that writes a report about a run, in a child process: a long journal takes a while to read.

A PDF file needs Qt: the child sends its page, and the thread that writes files draws it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NotRequired, TypedDict

from psygnal import Signal

from studio.session.problem_view import ProblemView, problem_from_event, problem_from_message
from studio.session.work.file_thread import FileThread
from studio.session.work.job import Emit, Inbox, job
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask

if TYPE_CHECKING:
    from studio.session.project.session_script import SessionScript


FAILED = "The report could not be written"


class Reported(TypedDict):
    """The report was written to ``out``; of a PDF file, ``page`` is what has to be drawn."""

    event: Literal["reported"]
    time: float
    out: str
    page: NotRequired[str]


@job
class WriteReport:
    """Write a report about the run in ``folder``, which is called ``name``, to ``out``."""

    TITLE: ClassVar = "Writing {0}"
    PAGE: ClassVar = "train"
    EVENTS: ClassVar = (Reported,)

    folder: str
    out: str
    name: str = ""

    @property
    def subject(self) -> str:
        return Path(self.out).name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``reported``. Raises DataError, FormatError, SaveError."""
        from studio.session.runs.report import is_pdf, page_of_run, write_report

        done: dict[str, Any] = {"event": "reported", "time": time.time(), "out": self.out}
        if is_pdf(self.out):
            done["page"] = page_of_run(Path(self.folder), self.name)
        else:
            write_report(Path(self.folder), Path(self.out), self.name)
        emit(done)

    def record(self, script: SessionScript) -> None:
        """Write the report again, next to the script's runs."""
        from studio.session.project.session_script import Out

        script.add("report", script.run(self.folder), "--out", Out(Path(self.out).name))


class ReportWriter:
    """Reports that are being written; ``written`` carries the path of one that is there.

    Args:
        tasks: starts the jobs. tell: called with problems. writing: the thread that writes files.

    The window sets ``pdf_of``, which turns a page of HTML into a PDF file, in that thread.
    """

    written = Signal(str)

    def __init__(self, tasks: RunningTasks, tell: Callable[[ProblemView], None], writing: FileThread) -> None:
        self._tasks, self._tell, self._files = tasks, tell, writing
        self._writing: deque[JobTask] = deque()
        self.pdf_of: Callable[[str], bytes] | None = None

    def write(self, folder: str, out: str, name: str = "") -> None:
        """Begin to write a report about the run in ``folder``, which is called ``name``: as a PDF file where
        ``out`` ends so."""
        self._writing.append(self._tasks.start(WriteReport(folder, out, name), partial(self._follow, out)))

    def take(self) -> None:
        """Tell what has become of them."""
        for task in list(self._writing):
            if task.take():
                self._writing.remove(task)

    def _follow(self, out: str, event: Mapping[str, Any]) -> None:
        if event["event"] == "reported" and "page" in event:
            self._draw(event["page"], out)
        elif event["event"] == "reported":
            self.written.emit(out)
        elif event["event"] == "failed" or (event["event"] == "worker_ended" and event["message"]):
            self._tell(problem_from_event(event, FAILED))

    def _draw(self, page: str, out: str) -> None:
        pdf_of = self.pdf_of
        if pdf_of is None:
            self._tell(problem_from_message(f"{out}: PDF needs the window; choose a .html file", FAILED))
            return

        def work() -> str:
            from engine.files.atomic import atomic_write

            content = pdf_of(page)
            atomic_write(Path(out), lambda file: file.write(content))
            return out

        def failed(error: Exception) -> None:
            self._tell(problem_from_message(str(error), FAILED))

        self._files.attempt(work, self.written.emit, failed, (OSError,))

    def close(self) -> None:
        """End those that are not written yet."""
        while self._writing:
            self._writing.popleft().close()
