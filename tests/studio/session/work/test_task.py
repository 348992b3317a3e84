"""Task: what becomes of one job in one child."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from studio.session.work.task import JobTask
from studio.session.work.worker import ProcessWorker, ThreadWorker
from tests.studio.session.work.own_job import DoubleValues

SECONDS = 40.0


def finished(task: JobTask, worker: Any) -> JobTask:
    deadline = time.monotonic() + SECONDS
    while not task.take():
        assert time.monotonic() < deadline
        worker.wait(1.0)
    return task


@pytest.mark.parametrize(
    ("how", "state", "said"),
    [("", "done", None), ("no such way", "failed", "no such way"), ("object", "failed", "can't be sent")],
)
def test_a_task_ends_with_its_result_or_its_failure(how: str, state: str, said: str | None) -> None:
    events: list[Any] = []
    worker = ThreadWorker()
    task = finished(JobTask(DoubleValues((1.0, 2.0), how), worker, events.append), worker)
    assert (task.state, task.ended) == (state, True)
    assert [event["event"] for event in events][-2:] == ["job_done", "worker_ended"]
    if said is None:
        assert task.result is not None
        assert task.result["values"].tolist() == [2.0, 4.0]
        assert task.failure is None
    else:
        assert task.failure is not None
        assert said in task.failure["what"]
        assert task.result is None


def test_a_child_that_sends_an_invalid_event_is_a_failed_task() -> None:
    worker = ProcessWorker()
    task = finished(JobTask(DoubleValues((1.0,), "wrong type"), worker, lambda event: None), worker)
    assert task.state == "failed"
    assert task.failure is not None
    assert "event doubled.mean: must be float" in task.failure["message"]


@pytest.mark.logs
def test_an_event_that_can_not_be_shown_fails_its_task_with_a_sentence() -> None:
    """Its values have the declared types, and what shows them raises all the same."""
    ends: list[Any] = []

    def follow(event: Any) -> None:
        if event["event"] == "worker_ended":
            ends.append(event)
        else:
            raise IndexError("list index\nout of range")

    worker = ThreadWorker()
    task = finished(JobTask(DoubleValues((1.0,)), worker, follow), worker)
    assert task.state == "failed"
    assert [event["message"] for event in ends] == [
        "double values: the event doubled that it sent can't be shown: IndexError: list index out of "
        "range; report it"
    ]
    assert "in follow" in ends[0]["details"]


@pytest.mark.parametrize("stop", [JobTask.cancel, JobTask.close])
def test_a_cancelled_task_is_neither_done_nor_failed(stop: Callable[[JobTask], None]) -> None:
    worker = ProcessWorker()
    task = JobTask(DoubleValues((1.0,), "wait"), worker, lambda event: None)
    assert worker.wait(SECONDS)
    stop(task)
    if stop is JobTask.cancel:
        finished(task, worker)
    assert (task.state, task.failure, task.result) == ("cancelled", None, None)


class Reporter:
    """A worker that reports how far it is."""

    notify = None

    def start(self, job: Any) -> None:
        pass

    def take(self) -> list[dict[str, Any]]:
        values = {"time": 1.0, "message": "Reading…", "done": 3, "total": 12}
        return [{"event": "quantize_progress", **values}]

    def ended(self) -> bool:
        return False


def test_progress_is_that_of_the_last_event() -> None:
    worker: Any = Reporter()
    task = JobTask(DoubleValues(()), worker, lambda event: None)
    assert (task.progress, task.message) == (None, "")
    assert not task.take()
    assert (task.progress, task.message, task.state) == (0.25, "Reading…", "running")
