"""A session over a worker that does only what the test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from studio.session.session import Session
from studio.session.work.job import job_of, name_of, plain_job
from studio.session.work.wire import decode, encode


class FakeWorker:
    """Records its commands; the test puts events in."""

    def __init__(self, notify: Callable[[], None] | None) -> None:
        self.notify = notify
        self.job: Any = None
        self.commands: list[str] = []
        self.killed = self.closed = False
        self._events: list[dict[str, Any]] = []
        self._ended = False

    def start(self, job: Any) -> None:
        self.job = job_of(next(decode(encode(plain_job(job)))))

    @property
    def job_name(self) -> str:
        return "" if self.job is None else name_of(self.job)

    def send(self, command: str) -> None:
        self.commands.append(command)

    def tell(self, *events: dict[str, Any]) -> None:
        self._events += events
        self._ended = self._ended or any(event["event"] == "worker_ended" for event in events)
        if self.notify is not None:
            self.notify()

    def end(self, clean: bool = True, message: str = "") -> None:
        code = 0 if clean else -9
        self.tell(
            {
                "event": "worker_ended",
                "clean": clean,
                "killed": self.killed,
                "exit_code": code,
                "message": message,
                "details": "",
            }
        )

    def take(self) -> list[dict[str, Any]]:
        events, self._events = self._events, []
        return events

    def wait(self, timeout: float) -> bool:
        return bool(self._events)

    def ended(self) -> bool:
        return self._ended

    def kill(self) -> None:
        if not self._ended:
            self.killed = True
            self.end(clean=False)

    def close(self) -> None:
        self.closed = True


class Stage:
    """A session, its fake workers, and events as a training emits them."""

    def __init__(self, runs: Path) -> None:
        self.workers: list[FakeWorker] = []
        self.session = Session(self._make, runs)
        self.problems: list[Any] = []
        self.session.problem.connect(self.problems.append)

    def _make(self, notify: Callable[[], None]) -> FakeWorker:
        self.workers.append(FakeWorker(notify))
        return self.workers[-1]

    @property
    def worker(self) -> FakeWorker:
        return self.workers[-1]

    def tell(self, event: str, **values: Any) -> None:
        """The worker emits one event, and the session takes it."""
        self.worker.tell({"event": event, "time": 1.0, **values})
        self.session.pump()

    def started(self, **values: Any) -> None:
        self.tell(
            "started",
            **{
                "config": {"epochs": 2},
                "folder": "f",
                "step": 0,
                "epoch": 1,
                "steps_per_epoch": 5,
                "total_steps": 10,
                "train_samples": 20,
                "test_samples": 4,
                "classes": ["a", "b"],
                "parameters": 3,
                "resumed_from": "",
                **values,
            },
        )

    def steps(self, *losses: float, first: int = 1) -> None:
        numbers = list(range(first, first + len(losses)))
        accuracies = [0.5] * len(losses)
        self.tell(
            "steps",
            steps=numbers,
            losses=list(losses),
            accuracies=accuracies,
            step=numbers[-1],
            epoch=1,
            total_steps=10,
            samples_per_second=100.0,
            seconds_left=3.0,
            elapsed=1.0,
            learning_rate=0.001,
        )

    def ended(self, kind: str = "finished", **values: Any) -> None:
        self.tell(
            kind,
            **{
                "step": 10,
                "epoch": 2,
                "reason": "",
                "validation_accuracy": 0.8,
                "best_accuracy": 0.9,
                "best_step": 5,
                "seconds": 4.0,
                "folder": "f",
                "checkpoint": "",
                **values,
            },
        )
        self.worker.end()
        self.session.pump()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path / "runs")
    yield made
    made.session.close(0.0)


@pytest.fixture
def make_fake_worker() -> type[FakeWorker]:
    """The kind of worker that does only what the test says."""
    return FakeWorker
