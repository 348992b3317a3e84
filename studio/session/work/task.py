"""Task: one job in one child, from its start to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from studio.session.work.job import Event, Job, Request
from studio.session.work.worker import Worker

State: TypeAlias = Literal["running", "done", "failed", "cancelled"]


class Task:
    """Starts ``job`` in ``worker``, and hands each event to ``follow``.

    ``progress`` is how much is done (0 to 1), None where it is not known; ``message`` what is being done;
    ``result`` the last event of the job itself; ``failure`` the event that says what went wrong.
    """

    def __init__(self, job: Job, worker: Worker, follow: Callable[[Event], object]) -> None:
        self.job = job
        self.state: State = "running"
        self.progress: float | None = None
        self.message = ""
        self.result: Event | None = None
        self.failure: Event | None = None
        self._worker, self._follow = worker, follow
        worker.start(job)

    @property
    def ended(self) -> bool:
        """Whether the child has exited and all of its events were handed on."""
        return self.state != "running"

    def take(self) -> bool:
        """Hand on the events that arrived; True where the child has exited."""
        ended = self._worker.ended()
        for event in self._worker.take():
            self._note(event)
            self._follow(event)
        if ended:
            self._worker.close()
            if self.state == "running":
                self.state = "done" if self.failure is None else "failed"
        return ended

    def send(self, message: str | Request) -> None:
        """Send a command or request to the job."""
        self._worker.send(message)

    def cancel(self) -> None:
        """Kill the child; the events that it sent before still arrive."""
        self._worker.kill()

    def close(self) -> None:
        """Kill the child and free what it held; no further event arrives."""
        self._worker.close()
        if self.state == "running":
            self.state = "cancelled"

    def _note(self, event: Event) -> None:
        kind = event["event"]
        if kind == "failed":
            self.failure = event
        elif kind == "worker_ended":
            if event["killed"]:
                self.state = "cancelled"
            elif event["message"] and self.failure is None:
                self.failure = event
        elif kind.endswith("_progress"):
            self.message = event["message"]
            if event.get("total"):
                self.progress = event["done"] / event["total"]
        elif kind not in ("worker_ready", "vitals", "output", "pong", "job_done"):
            self.result = event
