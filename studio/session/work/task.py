"""Task: what a child process does now, as the list of tasks shows it, with a way to cancel it."""

from __future__ import annotations

import logging
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal, TypeAlias

from psygnal import Signal

from studio.session.work.job import Event, Job, Request, delay_of, process_of, title_of
from studio.session.work.worker import Worker

State: TypeAlias = Literal["running", "done", "failed", "cancelled"]
_LOG = logging.getLogger(__name__)


class Task(ABC):
    """What a child does now; ``changed`` is emitted after each change.

    ``title`` says what it does, with ``{0}`` for ``subject``; it is empty while the task is not worth
    showing, as that of a child that waits for requests. ``progress`` is how much is done (0 to 1), None where
    it is not known; ``message`` what is being done. ``delay`` is how many seconds it runs before it is worth
    showing, so that a list does not flash. ``state`` becomes done, failed or cancelled at the end. ``page``
    is the page of the window that shows it, empty for none. ``run`` is the folder of the run that the subject
    is, whose name is shown instead; empty for another subject.
    """

    changed = Signal()

    def __init__(self, title: str = "", subject: str = "", page: str = "") -> None:
        self.title, self.subject, self.page = title, subject, page
        self.run = ""
        self.state: State = "running"
        self.progress: float | None = None
        self.message = ""
        self.delay = 0.0
        self._began = time.monotonic()

    @property
    def ended(self) -> bool:
        """Whether the child has exited and all of its events were handed on."""
        return self.state != "running"

    @property
    def shown(self) -> bool:
        """Whether it is worth showing now."""
        return self.shown_in == 0

    @property
    def shown_in(self) -> float | None:
        """In how many seconds it will be worth showing if it still runs, 0 for now; None for never."""
        if not self.title or self.ended:
            return None
        return max(0.0, self._began + self.delay - time.monotonic()) if self.delay else 0.0

    def begin(self, title: str, subject: str = "") -> None:
        """Something else is done from now on."""
        self.title, self.subject, self.message, self.progress = title, subject, "", None
        self.changed.emit()

    def rest(self) -> None:
        """Nothing is done until the next ``begin``."""
        if self.title:
            self.begin("")

    def report(self, message: str, progress: float | None = None) -> None:
        """Say how far it is; a share that is not between 0 and 1 counts as the nearer of them."""
        progress = None if progress is None else min(1.0, max(0.0, progress))
        if (self.message, self.progress) != (message, progress):
            self.message, self.progress = message, progress
            self.changed.emit()

    def _end(self, state: State) -> None:
        if not self.ended:
            self.state = state
            self.changed.emit()

    @abstractmethod
    def cancel(self) -> None:
        """End what it does now, as the user wishes."""


class JobTask(Task):
    """Starts ``job`` in ``worker``, and hands each event to ``follow``.

    ``result`` is the last event of the job itself; ``failure`` the event that says what went wrong.

    An event whose values ``follow`` can't use ends the job, with a message in ``worker_ended``. A job with
    ``OUTLIVES_ERRORS`` continues.

    Args:
        stop: carried out by ``cancel`` where the child is not to be killed.
        unusable: called with a message and details for the first such event of a job that continues.
    """

    def __init__(
        self,
        job: Job,
        worker: Worker,
        follow: Callable[[Event], object],
        stop: Callable[[], object] | None = None,
        unusable: Callable[[str, str], object] | None = None,
    ) -> None:
        super().__init__(*title_of(job), str(getattr(job, "PAGE", "")))
        self.job, self.delay = job, delay_of(job)
        self.run = str(getattr(job, "run_folder", ""))
        self.result: Event | None = None
        self.failure: Event | None = None
        self._worker = worker
        self._follow: Callable[[Event], object] | None = follow
        self._stop, self._unusable = stop, unusable
        self._fault: tuple[str, str] | None = None
        worker.start(job)

    @property
    def pid(self) -> int:
        """The id of the child process; 0 where there is none."""
        return int(getattr(self._worker, "pid", 0))

    def take(self) -> bool:
        """Hand on the events that arrived; True where the child has exited."""
        ended = self._worker.ended()
        killed = False
        for event in self._worker.take():
            if event["event"] == "worker_ended":
                if self._fault is not None and not self._outlives_errors:
                    message, details = self._fault
                    event = {**event, "clean": False, "killed": False, "message": message, "details": details}
                killed = killed or bool(event["killed"])
            elif self._fault is not None and not self._outlives_errors:
                continue  # nothing after it can be trusted
            try:
                self._note(event)
                if self._follow is not None:
                    self._follow(event)
            except Exception as error:
                self._note_fault(event, error)
        if ended:
            self._worker.close()
            self._end("cancelled" if killed else "done" if self.failure is None else "failed")
        return ended

    @property
    def _outlives_errors(self) -> bool:
        return bool(getattr(self.job, "OUTLIVES_ERRORS", False))

    def _note_fault(self, event: Event, error: Exception) -> None:
        """The event could not be used: its values are odd, or there is an error in what shows it."""
        _LOG.error("event %s", event["event"], exc_info=error)
        if self._fault is not None:
            return
        while error.__cause__ is not None and isinstance(error.__cause__, Exception):
            error = error.__cause__  # of the signal that was emitted
        said = " ".join(f"{type(error).__name__}: {error}".split())
        what = f"the event {event['event']} that it sent can't be shown: {said[:200]}"
        message = f"{process_of(self.job)}: {what}; report it"
        self._fault = message, "".join(traceback.format_exception(error))
        if not self._outlives_errors:
            self._worker.kill()
        elif self._unusable is not None:
            self._unusable(*self._fault)

    def send(self, message: str | Request) -> None:
        """Send a command or request to the job."""
        self._worker.send(message)

    def cancel(self) -> None:
        if self._stop is not None:
            self._stop()
        else:
            self.kill()

    def kill(self) -> None:
        """Kill the child; the events that it sent before still arrive."""
        self._worker.kill()

    def forget(self) -> None:
        """Hand no further event on."""
        self._follow = None

    def close(self) -> None:
        """Kill the child and free what it held; no further event arrives."""
        self._worker.close()
        self._end("cancelled")

    def _note(self, event: Event) -> None:
        kind = event["event"]
        if kind == "failed":
            self.failure = event
        elif kind == "worker_ended":
            if not event["killed"] and event["message"] and self.failure is None:
                self.failure = event
        elif kind.endswith("_progress"):
            share = event["done"] / event["total"] if event.get("total") else None
            self.report(event["message"], share)
        elif kind not in ("worker_ready", "vitals", "output", "pong", "job_done"):
            self.result = event


class RequestTask(Task):
    """Work that is not one job of a worker, such as requests to a model or the trials of a sweep.

    The object that does it reports here.

    Args:
        stop: ends the request in progress.
    """

    def __init__(self, title: str, subject: str, stop: Callable[[], object], page: str = "") -> None:
        super().__init__(title, subject, page)
        self._stop = stop

    def cancel(self) -> None:
        self._stop()

    def end(self, state: State) -> None:
        """The child has exited, or does so now."""
        self._end(state)
