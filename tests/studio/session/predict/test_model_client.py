"""ModelClient: what is dropped where a request fails, whatever the order of the threads."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from engine.core.errors import LimitError
from engine.core.models.limits import ModelLimits
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_client import (
    ModelClient,
    ModelLoaded,
    ModelReply,
    PredictionReply,
    RequestFailed,
    Values,
)
from studio.session.work.running_tasks import RunningTasks
from tests.studio.session.explain.fake_client import info

SECONDS = 20.0


class Scripted(ModelClient):
    """Answers as the test says, in the thread."""

    scores: Callable[[Values], Any]

    def _load(self) -> ModelReply:
        return ModelLoaded(info())

    def _get_scores(self, values: Values, checkpoint: str, since: int) -> ModelReply:
        return PredictionReply(values, self.scores(values), 0.0)


class Opened:
    """A client, and its replies; ``seen`` is called in the thread with each."""

    def __init__(self) -> None:
        self.replies: queue.Queue[ModelReply] = queue.Queue()
        self.seen: Callable[[ModelReply], object] = lambda reply: None
        tasks = RunningTasks(lambda notify: pytest.fail("no worker"), lambda: None)
        self.client = Scripted(ModelChoice("model"), ModelLimits(), self._take, tasks)

    def _take(self, client: ModelClient, reply: ModelReply) -> None:
        self.seen(reply)
        self.replies.put(reply)


@pytest.fixture
def opened() -> Iterator[Opened]:
    made = Opened()
    yield made
    made.client.close()
    made.client.join(SECONDS)


def test_a_failure_drops_what_waits_and_nothing_that_is_asked_once_it_is_known(opened: Opened) -> None:
    first, waiting, again = ((np.full(1, value),) for value in (1.0, 2.0, 3.0))

    def scores(values: Values) -> np.ndarray:
        if values is first:
            opened.client.ask(waiting)
            raise LimitError("too long")
        return np.zeros(10)

    def seen(reply: ModelReply) -> None:
        if isinstance(reply, RequestFailed):
            opened.client.ask(again)

    opened.client.scores, opened.seen = scores, seen
    opened.client.ask(first)
    loaded, failed, answered = (opened.replies.get(timeout=SECONDS) for _ in range(3))
    assert isinstance(loaded, ModelLoaded)
    assert isinstance(failed, RequestFailed)
    assert failed.why == "limit"
    assert isinstance(answered, PredictionReply)
    assert answered.fed is again
    assert opened.replies.empty()
