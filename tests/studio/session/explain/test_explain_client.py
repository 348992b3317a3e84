"""ExplainClient: the newest request of each method, dropped and cancelled ones, limits, reasons."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import nn
from engine.core.models.limits import ModelLimits
from engine.inference import process
from studio.session.explain.explain_client import (
    ActivationsReply,
    AttributionReply,
    ExplainClient,
    ExplainFailed,
    ExplainLoaded,
    ExplainProgress,
    ExplainRequest,
    ViewReply,
    ViewRequest,
)
from studio.session.predict.model_choice import ModelChoice
from studio.session.work.running_tasks import RunningTasks
from tests.robust.untrusted_models import Endless, image, saved, unsign

SECONDS = 60.0


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    network = nn.Sequential(nn.Conv2D(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 26 * 26, 10))
    return saved(network, tmp_path_factory.mktemp("model") / "model")


class Opened:
    """A client and its replies; progress apart, since how often it comes depends on the time."""

    def __init__(self, path: Path, limits: ModelLimits | None = None) -> None:
        self.replies: queue.Queue[Any] = queue.Queue()
        self.progress: list[ExplainProgress] = []
        self.seen = threading.Event()
        self.hold: Callable[[], object] = lambda: None
        tasks = RunningTasks(lambda notify: pytest.fail("no worker"), lambda: None)
        self.client = ExplainClient(ModelChoice(str(path)), limits or ModelLimits(), self.take, tasks)

    def take(self, client: ExplainClient, reply: Any) -> None:
        if isinstance(reply, ExplainProgress):
            self.progress.append(reply)
            self.seen.set()
            self.hold()
        else:
            self.replies.put(reply)

    def next(self) -> Any:
        reply = self.replies.get(timeout=SECONDS)
        self.client.note(reply)
        return reply


@pytest.fixture
def open_model() -> Iterator[Callable[..., Opened]]:
    made: list[Opened] = []

    def start(*given: Any) -> Opened:
        made.append(Opened(*given))
        return made[-1]

    yield start
    for each in made:
        each.client.close()
        each.client.join(SECONDS)
        assert not each.client.alive()


def test_each_method_is_answered(model: Path, open_model: Callable[..., Opened]) -> None:
    opened = open_model(model)
    loaded = opened.next()
    assert isinstance(loaded, ExplainLoaded)
    assert [each.shape for each in loaded.outputs] == [(-1, 10)]
    assert not any(loaded.reasons[0, 0].values())
    for method in ("saliency", "integrated", "occlusion"):
        request = ExplainRequest(method, [image(0.5)], target=4, size=7, step=7, steps=4)
        opened.client.ask(request)
        reply = opened.next()
        assert isinstance(reply, AttributionReply)
        assert (reply.request, reply.attribution.method, reply.attribution.target) == (request, method, 4)
    opened.client.ask(ExplainRequest("activations", [image(0.5)]))
    reply = opened.next()
    assert isinstance(reply, ActivationsReply)
    variable = reply.activations[0].variable
    opened.client.ask(ViewRequest(variable, "rows", {"count": 2}))
    reply = opened.next()
    assert isinstance(reply, ViewReply)
    assert len(reply.view["values"]) == 2


def test_newer_request_of_a_method_drops_the_running_one(
    model: Path, open_model: Callable[..., Opened]
) -> None:
    opened = open_model(model)
    opened.next()
    first, second, third = (ExplainRequest("occlusion", [image(b)], size=2, step=1) for b in (0.1, 0.2, 0.3))

    def replace() -> None:
        opened.hold = lambda: None
        opened.client.ask(second)
        opened.client.ask(third)
        opened.client.ask(ExplainRequest("saliency", [image(0.3)]))

    opened.hold = replace
    opened.client.ask(first)
    assert opened.next().request is third
    assert opened.next().request.method == "saliency"
    assert opened.replies.empty()
    assert not [each for each in opened.progress if each.request is second]


def test_cancelled_occlusion_replies_what_was_found(model: Path, open_model: Callable[..., Opened]) -> None:
    opened = open_model(model)
    opened.next()
    request = ExplainRequest("occlusion", [image(0.1)], size=2, step=1)
    opened.hold = lambda: opened.client.cancel()
    opened.client.ask(request)
    reply = opened.next()
    assert isinstance(reply, AttributionReply)
    assert 0 < reply.attribution.share < 1
    assert np.isnan(reply.attribution.values).any()
    opened.client.ask(ExplainRequest("saliency", [image(0.1)]))  # the process is still there
    assert isinstance(opened.next(), AttributionReply)


def test_cancelling_ends_a_run_that_does_not_end(tmp_path: Path, open_model: Callable[..., Opened]) -> None:
    endless = unsign(saved(Endless(), tmp_path / "endless"))
    opened = open_model(endless, ModelLimits(seconds=1e6, steps=10**17))
    opened.next()
    opened.client.ask(ExplainRequest("occlusion", [image(1.0)]))
    with pytest.raises(queue.Empty):
        opened.replies.get(timeout=0.3)
    opened.client.cancel()
    reply = opened.next()
    assert (type(reply), reply.why) == (ExplainFailed, "cancelled")
    opened.client.ask(ExplainRequest("occlusion", [image(0.0)], size=28))
    assert isinstance(opened.next(), AttributionReply)


def test_limit_that_is_too_low_is_named(
    tmp_path: Path, open_model: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MORE_SECONDS", 0.5)
    endless = unsign(saved(Endless(), tmp_path / "endless"))
    opened = open_model(endless, ModelLimits(seconds=0.5, steps=10**17))
    opened.next()
    request = ExplainRequest("occlusion", [image(1.0)])
    opened.client.ask(request)
    reply = opened.next()
    assert (type(reply), reply.why, reply.request) == (ExplainFailed, "limit", request)


def test_model_that_is_not_there_fails_to_load(tmp_path: Path, open_model: Callable[..., Opened]) -> None:
    reply = open_model(tmp_path / "nothing").next()
    assert (type(reply), reply.request, reply.why) == (ExplainFailed, None, "")
    assert "nothing" in reply.message


def test_sample_that_is_not_finite_fails_with_the_reason(
    model: Path, open_model: Callable[..., Opened]
) -> None:
    opened = open_model(model)
    opened.next()
    x = image(0.5)
    x[0, 0, 3, 3] = np.nan
    opened.client.ask(ExplainRequest("saliency", [x]))
    reply = opened.next()
    assert isinstance(reply, ExplainFailed)
    assert "1 NaN" in reply.message
