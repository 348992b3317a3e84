"""ExplainClient: which requests ``cancel`` ends, whatever the order of the threads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, cast

import numpy as np
import pytest

from engine.core.errors import CancelledError
from engine.core.models.limits import ModelLimits
from engine.explain import Subject
from studio.session.explain.explain_client import (
    ExplainClient,
    ExplainFailed,
    ExplainLoaded,
    ExplainReply,
    ExplainRequest,
    Request,
    ViewReply,
    ViewRequest,
)
from studio.session.predict.model_choice import ModelChoice
from studio.session.work.running_tasks import RunningTasks

SECONDS = 20.0


class Scripted(ExplainClient):
    """Answers as the test says, in the thread; what was cancelled fails as in the process of a model."""

    answer: Callable[[Request], object]

    def _load(self) -> ExplainReply:
        self._subject = cast(Subject, self)  # it is loaded
        return ExplainLoaded((), (), {})

    def _answer(self, request: Request) -> ExplainReply:
        self._process._begin(self._moment)
        self.answer(request)
        return ViewReply(cast(ViewRequest, request), {})


class Timers:
    """Timers that pass when the test says so."""

    made: ClassVar[list[Timers]] = []
    begin: ClassVar[Callable[[], object]] = lambda: None

    def __init__(self, seconds: float, function: Callable[..., object], given: tuple[Any, ...]) -> None:
        type(self).begin()
        self._function, self._given = function, given
        self.daemon = self.cancelled = False
        self.made.append(self)

    def start(self) -> None: ...

    def cancel(self) -> None:
        self.cancelled = True

    def pass_now(self) -> None:
        self._function(*self._given)


class Asked:
    """A client that has loaded, a request that is being answered until ``go_on``, and the replies."""

    def __init__(self) -> None:
        self.replies: queue.Queue[Any] = queue.Queue()
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.first, self.second = (ExplainRequest(name, [np.zeros(1)]) for name in ("saliency", "occlusion"))
        tasks = RunningTasks(lambda notify: pytest.fail("no worker"), lambda: None)
        self.client = Scripted(ModelChoice("model"), ModelLimits(), lambda _, it: self.replies.put(it), tasks)
        self.client.answer = self._answer
        assert isinstance(self.replies.get(timeout=SECONDS), ExplainLoaded)
        self.client.ask(self.first)
        assert self.begun.wait(SECONDS)

    def _answer(self, request: Request) -> None:
        if request is self.first:
            self.begun.set()
            self.go_on.wait(SECONDS)
            raise CancelledError("its process was ended")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    monkeypatch.setattr(Timers, "made", [])
    monkeypatch.setattr(threading, "Timer", Timers)
    made = Asked()
    yield made
    made.go_on.set()
    made.client.close()
    made.client.join(SECONDS)


def test_requests_after_cancel_outlive_the_end_of_the_process(asked: Asked) -> None:
    asked.client.cancel()
    asked.client.ask(asked.second)
    (timer,) = Timers.made
    timer.pass_now()
    asked.go_on.set()
    failed, answered = (asked.replies.get(timeout=SECONDS) for _ in range(2))
    assert (type(failed), failed.request, failed.why) == (ExplainFailed, asked.first, "cancelled")
    assert (type(answered), answered.request) == (ViewReply, asked.second)


def test_a_request_can_not_end_while_cancel_makes_its_timer(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the timer would stay, and the next request have none."""
    free: list[bool] = []

    def look() -> None:
        free.append(asked.client._condition.acquire(blocking=False))
        if free[-1]:
            asked.client._condition.release()

    def begin() -> None:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    monkeypatch.setattr(Timers, "begin", begin)
    asked.client.cancel()
    assert free == [False]
    asked.go_on.set()
    assert asked.replies.get(timeout=SECONDS).request is asked.first
    asked.client.ask(asked.second)
    assert asked.replies.get(timeout=SECONDS).request is asked.second
    (timer,) = Timers.made
    assert timer.cancelled
    timer.pass_now()  # too late
    assert asked.client._process.moment() == 0
