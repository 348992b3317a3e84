"""Jobs: a class is all that a new one needs; fields and events are checked on their way."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, ClassVar, TypedDict

import numpy as np
import pytest

from engine.training.control import Commands
from resources.scratch import make_scratch
from resources.typed_values import WireError, checked
from studio.session.data.data_job import ComparePreparation, StopCheck
from studio.session.train.train_job import Train
from studio.session.work import worker as worker_module
from studio.session.work import worker_main
from studio.session.work.job import (
    Event,
    Inbox,
    checked_event,
    job,
    job_of,
    name_of,
    perform_sent,
    plain_job,
    plain_message,
)
from studio.session.work.wire import decode, encode
from studio.session.work.worker import ProcessWorker, ThreadWorker, Worker
from tests.late_exit_codes import let_another_thread_find_the_end
from tests.studio.session.work.own_job import DoubleValues

MODULE = "tests.studio.session.work.own_job"
SECONDS = 40.0


def events_of(make: Callable[[], Worker], sent: Any) -> list[Event]:
    """All that a worker reports."""
    worker = make()
    try:
        worker.start(sent)
        return rest_of(worker)
    finally:
        worker.close()


def rest_of(worker: Worker) -> list[Event]:
    """What it reports until its end."""
    found: list[Event] = []
    deadline = time.monotonic() + SECONDS
    while not (found and found[-1]["event"] == "worker_ended"):
        assert time.monotonic() < deadline, found
        worker.wait(1.0)
        found += worker.take()
    return found


@pytest.mark.parametrize("make", [ProcessWorker, ThreadWorker])
def test_a_new_job_needs_only_its_class(make: Callable[[], Worker]) -> None:
    events = {event["event"]: event for event in events_of(make, DoubleValues((1.0, float("nan"), 3.0)))}
    np.testing.assert_array_equal(events["doubled"]["values"], [2.0, float("nan"), 6.0])
    assert events["job_done"]["ok"] is True
    assert events["worker_ended"]["clean"] is True
    assert name_of(DoubleValues(())) == "double_values"


@pytest.mark.parametrize("make", [ProcessWorker, ThreadWorker])
def test_an_error_of_a_job_and_an_event_that_can_not_be_sent_are_failures(make: Callable[[], Worker]) -> None:
    for how, what in (("no such way", "no such way"), ("object", "object can't be sent")):
        events = {event["event"]: event for event in events_of(make, DoubleValues((1.0,), how))}
        assert what in events["failed"]["what"]
        assert events["job_done"]["ok"] is False


def test_a_process_that_can_not_be_started_is_a_failure_of_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(SpawnProcess, "start", refuse)
    *_, last = events_of(ProcessWorker, DoubleValues((1.0,)))
    assert (last["event"], last["clean"], last["killed"]) == ("worker_ended", False, False)
    assert "it could not be started: [Errno 11] Resource temporarily unavailable" in last["message"]


def test_a_worker_that_is_killed_at_once_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(worker_module, "make_scratch", lambda: go_on.wait(SECONDS) and make_scratch())
    worker = ProcessWorker()
    worker.kill()
    go_on.set()
    assert worker.wait(SECONDS)
    (ended,) = worker.take()
    assert (ended["killed"], worker.pid, worker._process) == (True, 0, None)
    worker.close()


def test_a_kill_does_not_wait_for_the_start_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    starts, go_on, start = threading.Event(), threading.Event(), SpawnProcess.start

    def slow(process: Any) -> None:
        starts.set()
        go_on.wait(SECONDS)
        start(process)

    monkeypatch.setattr(SpawnProcess, "start", slow)
    worker = ProcessWorker()
    assert starts.wait(SECONDS)
    worker.kill()  # would block
    assert not go_on.is_set()
    go_on.set()
    assert rest_of(worker)[-1]["killed"]
    worker.close()


def test_an_invalid_event_of_a_child_is_its_failure_and_not_the_windows() -> None:
    *_, last = events_of(ProcessWorker, DoubleValues((1.0,), "wrong type"))
    assert (last["event"], last["clean"], last["killed"]) == ("worker_ended", False, False)
    assert last["message"] == (
        "double values: it sent an invalid message: event doubled.mean: must be float: got str; report it"
    )


def test_a_kill_that_comes_as_the_process_is_started_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    starts, go_on, start = threading.Event(), threading.Event(), SpawnProcess.start

    def slow(process: Any) -> None:
        starts.set()
        go_on.wait(SECONDS)
        start(process)

    class Late(threading.Event):
        """Lets the process be started while it is asked whether it is."""

        def is_set(self) -> bool:
            go_on.set()
            return self.wait(SECONDS)

    monkeypatch.setattr(SpawnProcess, "start", slow)
    worker = ProcessWorker()
    try:
        assert starts.wait(SECONDS)
        worker._started = Late()
        worker.kill()
        assert worker._killed
    finally:
        go_on.set()
        worker._started.wait(SECONDS)
        worker.close()


def test_the_connection_is_closed_while_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[bool] = []

    class Watched(Connection):
        def close(self) -> None:
            held.append(worker._send_lock.locked())
            super().close()

    go_on = threading.Event()
    monkeypatch.setattr(worker_module, "make_scratch", lambda: go_on.wait(SECONDS) and make_scratch())
    worker = ProcessWorker()
    worker._connection = Watched(os.dup(worker._connection.fileno()))
    worker.kill()
    go_on.set()
    worker.close()
    assert held == [True]


@pytest.mark.skipif(sys.platform == "win32", reason="a process is killed by a signal")
def test_the_exit_code_is_right_if_another_thread_found_the_end_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    let_another_thread_find_the_end(monkeypatch)
    worker = ProcessWorker()
    try:
        os.kill(worker.pid, signal.SIGKILL)
        ended = rest_of(worker)[-1]
        assert (ended["exit_code"], ended["killed"]) == (-signal.SIGKILL, False)
    finally:
        worker.close()


def test_an_invalid_message_of_the_window_ends_the_job_and_the_child() -> None:
    worker = ProcessWorker()
    events: list[Event] = []
    try:
        worker.start(DoubleValues((1.0,), "wait"))
        while not any(event["event"] == "worker_ready" for event in events):
            assert worker.wait(SECONDS)
            events += worker.take()
        worker._post({"command": "explode"})
        events += rest_of(worker)
        said = [event["text"] for event in events if event["event"] == "output"]
        assert said == ["worker process: invalid message from the window: command: unknown: 'explode'"]
        assert "doubled" in [event["event"] for event in events]
    finally:
        worker.close()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"job": f"{MODULE}:DoubleValues", "fields": {}}, "job DoubleValues: missing field: 'values'"),
        (
            {"job": f"{MODULE}:DoubleValues", "fields": {"values": [], "more": 1}},
            "job DoubleValues: unknown field: 'more'",
        ),
        (
            {"job": f"{MODULE}:DoubleValues", "fields": {"values": [1.0, "2"]}},
            "job DoubleValues.values[1]: must be float: got str",
        ),
        ({"job": f"{MODULE}:DoubleValues", "fields": 3}, "job DoubleValues: must be DoubleValues: got int"),
        ({"job": f"{MODULE}:Missing", "fields": {}}, "is not a class made by @job"),
        ({"job": f"{MODULE}:NotAJob", "fields": {}}, "is not a class made by @job"),
        ({"job": "os:system", "fields": {}}, "job: unknown: 'os:system' is not a class"),
        ({"job": "no_such_module:A", "fields": {}}, "job: unknown: 'no_such_module:A'"),
        ({"job": ":", "fields": {}}, "job: unknown"),
        ({"job": None}, "job: must be str: got NoneType"),
        (["job"], "job: must be"),
    ],
)
def test_a_job_that_does_not_fit_its_class_is_refused(sent: Any, said: str) -> None:
    with pytest.raises(WireError, match=re.escape(said)):
        job_of(sent)
    events: list[Any] = []
    assert not perform_sent(sent, events.append, Inbox())
    assert [event["event"] for event in events] == ["failed"]


@pytest.mark.parametrize(
    "event", [3, [], {}, {"event": 3, "time": 1.0}, {"event": "x"}, {"event": "x", "time": "1"}]
)
def test_an_event_has_a_kind_and_a_time(event: Any) -> None:
    with pytest.raises(WireError, match=r"^event"):
        checked_event(event, None)


def test_an_event_that_no_job_declares_is_refused() -> None:
    event = {"event": "doubled", "time": 1.0, "values": np.ones(2), "mean": 1.0}
    assert checked_event(event, DoubleValues(())) == event
    with pytest.raises(WireError, match="event: unknown: 'doubled'"):
        checked_event(event, None)
    with pytest.raises(WireError, match="event failed: missing field: 'error'"):
        checked_event({"event": "failed", "time": 1.0}, None)


@pytest.mark.parametrize(
    ("kind", "field", "value", "said"),
    [
        ("steps", "losses", [0.5, "0.5"], "event steps.losses[1]: must be float: got str"),
        ("steps", "scalars", {"gradient_norm": [None]}, "event steps.scalars['gradient_norm'][0]: must be"),
        ("steps", "memory", 1.5, "event steps.memory: must be int: got float"),
        ("paused", "step", True, "event paused.step: must be int: got bool"),
    ],
)
def test_events_of_a_training_are_checked(kind: str, field: str, value: Any, said: str) -> None:
    steps: dict[str, Any] = {
        **{"event": "steps", "time": 1.0, "steps": [1, 2], "losses": [0.5, 1], "accuracies": [], "step": 2},
        **{"epoch": 1, "total_steps": 9, "samples_per_second": 10.0, "seconds_left": 2.0, "elapsed": 1},
        **{"learning_rate": 0.1, "scalars": {"gradient_norm": [float("nan")]}, "memory": 12},
    }
    event = steps if kind == "steps" else {"event": "paused", "time": 1.0, "step": 3}
    job = Train({})
    assert checked_event(event, job) == event
    with pytest.raises(WireError, match=re.escape(said)):
        checked_event({**event, field: value}, job)
    with pytest.raises(WireError, match=f"event {kind}: missing field: 'step'"):
        checked_event({key: each for key, each in event.items() if key != "step"}, job)


def test_a_command_that_comes_while_others_are_handed_on_waits_behind_them() -> None:
    inbox, received = Inbox(), list[str]()
    for command in ("pause", "checkpoint_now"):
        inbox.put(plain_message(command))

    def take(command: str) -> None:
        received.append(command)
        if command == "pause":
            inbox.put(plain_message("resume"))  # as another thread at this moment

    inbox.attach(take)
    inbox.put(plain_message("stop_early"))
    assert received == ["pause", "checkpoint_now", "resume", "stop_early"]


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize(
    ("message", "said"),
    [
        (plain_message(StopCheck()), "request: unknown: 'StopCheck'"),
        ({"command": "request", "request": 3}, "request: must be str: got int"),
        (
            {**plain_message(ComparePreparation(1)), "fields": {"page": "1"}},
            "page: must be int",
        ),
        ({**plain_message(ComparePreparation(1)), "fields": {}}, "missing field: 'page'"),
    ],
)
def test_a_request_that_the_job_does_not_have_is_refused(waits: bool, message: Any, said: str) -> None:
    inbox, received = Inbox(), []
    attach = partial(inbox.attach, received.append, ComparePreparation)
    if waits:
        inbox.put(message)
    else:
        attach()
        inbox.put(plain_message("cancel"))
        inbox.put(plain_message(ComparePreparation(3)))
    last = attach if waits else partial(inbox.put, message)
    with pytest.raises(WireError, match=re.escape(said)):
        last()
    assert received == ([] if waits else ["cancel", ComparePreparation(3)])


@dataclass(frozen=True)
class Inner:
    name: str
    sizes: tuple[int | None, ...] = ()


@job
class Everything:
    """One field of each kind."""

    NOTHING: ClassVar = 3
    inner: Inner
    pairs: tuple[tuple[str, float], ...]
    by_line: dict[int, list[bool]]
    image: np.ndarray
    rest: Any = None

    def run(self, emit: Any, inbox: Any) -> None:
        """Nothing."""


def test_fields_come_back_as_they_were() -> None:
    sent = Everything(Inner("a", (None, 3)), (("x", 1.0),), {3: [True]}, np.ones((2, 2)), {"k": [1]})
    (values,) = decode(encode(plain_job(sent)))
    found = job_of(values)
    assert isinstance(found, Everything)
    assert (found.inner, found.pairs, found.by_line, found.rest) == (
        sent.inner,
        sent.pairs,
        sent.by_line,
        sent.rest,
    )
    assert found.image.tolist() == sent.image.tolist()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, int),
        (1, bool),
        ("1", int),
        (None, str),
        ([1], tuple[int, int]),
        ({"a": 1}, dict[int, int]),
        (1, np.ndarray),
    ],
)
def test_types_are_not_converted_silently(value: Any, kind: Any) -> None:
    with pytest.raises(WireError, match=r"^field"):
        checked(value, kind, "field")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"time": float("nan")}, "event vitals: not a time: nan"),
        ({"time": 1e300}, "event vitals: not a time: 1e+300"),
        ({"memory": 1 << 64}, "event vitals.memory: an integer of 65 bits"),
    ],
)
def test_values_that_no_child_means_are_refused(changed: dict[str, object], said: str) -> None:
    event = {"event": "vitals", "time": 1.0, "memory": 1}
    assert checked_event(event, None) == event
    with pytest.raises(WireError, match=re.escape(said)):
        checked_event({**event, **changed}, None)


def test_a_child_gives_up_on_a_request_that_its_job_refuses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its receiver would end otherwise, and it would hear neither a cancel nor the end of the window."""

    class GaveUp(Exception):
        pass

    def give_up(*arguments: object) -> None:
        raise GaveUp

    monkeypatch.setattr(worker_main, "_give_up", give_up)
    inbox = Inbox()
    inbox.attach(Commands().obey)
    ours, theirs = multiprocessing.Pipe()
    ours.send_bytes(encode({"command": "learning_rate=x"}))
    with pytest.raises(GaveUp):
        worker_main._receive(theirs, None, inbox, [], threading.Event(), threading.Event())  # type: ignore[arg-type]
    assert capsys.readouterr().err.startswith(
        "worker process: invalid message from the window: training: not a "
    )


def test_an_empty_list_is_not_taken_for_a_number() -> None:
    class Counted(TypedDict):
        count: int

    with pytest.raises(WireError, match="must be int: got list"):
        checked({"count": []}, Counted, "counted")
