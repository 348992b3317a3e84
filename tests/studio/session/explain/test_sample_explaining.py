"""A sample of data and a model: what is fed once both are there, and what is said where they do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from studio.session.explain import explained_model, sample_explaining
from studio.session.explain.sample_explaining import SampleExplaining, WantedSample
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_client import ModelLoaded, PredictionReply, RequestFailed
from studio.session.predict.test_samples_job import ReadSample
from studio.session.work.running_tasks import RunningTasks
from tests.studio.session.conftest import FakeWorker
from tests.studio.session.explain.fake_client import FakeClient, info

IMAGE = np.linspace(0, 1, 784, dtype=np.float32).reshape(28, 28)
CONFIG = {"data": "digits"}


class FakeModel:
    """Records what is asked; the test puts replies in."""

    made: list[FakeModel]

    def __init__(self, choice: ModelChoice, limits: Any, tell: Any, tasks: Any) -> None:
        self.choice, self._tell = choice, tell
        self.asked: list[tuple[Any, str]] = []
        self.closed = False
        FakeModel.made.append(self)

    def ask(self, values: Any, checkpoint: str = "") -> None:
        self.asked.append((values, checkpoint))

    def tell(self, reply: Any) -> None:
        self._tell(self, reply)

    def note(self, reply: Any) -> None: ...
    def join(self, timeout: float) -> None: ...

    def close(self) -> None:
        self.closed = True

    def alive(self) -> bool:
        return not self.closed


class Shown:
    """A sample that is shown, its worker and its model."""

    def __init__(self) -> None:
        self.workers: list[FakeWorker] = []
        self.sample = SampleExplaining(RunningTasks(self._worker, lambda: None), lambda: None)

    def _worker(self, notify: Any) -> FakeWorker:
        self.workers.append(FakeWorker(notify))
        return self.workers[-1]

    def show(self, choice: str = "model", place: int = 4) -> FakeModel:
        self.sample.show(ModelChoice(choice), WantedSample(CONFIG, "train", place))
        return FakeModel.made[-1]

    def read(self, *values: Any) -> None:
        self.workers[-1].tell({"event": "sample", "time": 1.0, "values": list(values), "label": "7"})
        self.workers[-1].end()
        self.sample.take()

    def load(self, model: FakeModel, **more: Any) -> None:
        model.tell(ModelLoaded(info(**more)))
        self.sample.take()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.setattr(sample_explaining, "ModelClient", FakeModel)
    monkeypatch.setattr(explained_model, "ExplainClient", FakeClient)
    monkeypatch.setattr(FakeModel, "made", [], raising=False)
    monkeypatch.setattr(FakeClient, "made", [])
    return Shown()


def test_the_sample_is_fed_once_it_is_read_and_the_model_loaded(shown: Shown) -> None:
    model = shown.show()
    [worker] = shown.workers
    assert worker.job == ReadSample(CONFIG, "train", 4)
    view = shown.sample.view
    assert view.reading
    shown.read(IMAGE)
    assert model.asked == []
    shown.load(model)
    [(fed, _)] = model.asked
    assert np.array_equal(fed[0], IMAGE)
    assert shown.sample.maps.view.fed == fed
    assert (view.label, view.reading) == ("7", False)
    model.tell(PredictionReply(fed, np.eye(10)[3], 0.1))
    shown.sample.take()
    assert view.ranking[0] == ("3", 1.0)
    assert len(shown.sample.maps.view.targets) == 10


def test_another_sample_asks_the_same_process(shown: Shown) -> None:
    model = shown.show()
    shown.load(model)
    shown.read(IMAGE)
    assert shown.show(place=5) is model
    shown.read(IMAGE * 0.5)
    assert len(model.asked) == 2
    assert shown.show("other") is not model
    assert model.closed


def test_an_image_of_another_size_is_placed(shown: Shown) -> None:
    model = shown.show()
    shown.load(model)
    large = np.zeros((64, 64), np.float32)
    large[16:48, 24:40] = 1.0
    shown.read(large)
    [(fed, _)] = model.asked
    assert fed[0].shape == (28, 28)
    assert fed[0].max() > 0.9


def test_a_model_with_other_inputs_says_so(shown: Shown) -> None:
    model = shown.show()
    shown.load(model, inputs=2)
    shown.read(IMAGE)
    assert shown.sample.view.message == "The sample has 1 inputs, and this model takes 2."
    assert model.asked == []


def test_a_model_that_can_not_be_loaded_says_so(shown: Shown) -> None:
    model = shown.show()
    model.tell(RequestFailed("loading", "model: no such file", ""))
    shown.sample.take()
    assert shown.sample.view.message == "model: no such file"
    assert model.closed


def test_closing_the_window_ends_the_processes(shown: Shown) -> None:
    model = shown.show()
    shown.load(model)
    shown.sample.end()
    assert model.closed
    assert shown.workers[-1].killed or shown.workers[-1].closed


def test_the_job_reads_the_sample_that_a_page_shows() -> None:
    """Of the built-in digits the samples of both splits, as a person gives them."""
    found: list[Any] = []
    for split, place in (("train", 5), ("test", 5)):
        ReadSample({"data": "digits"}, split, place).run(found.append, None)  # type: ignore[arg-type]
    assert [event["event"] for event in found] == ["sample", "sample"]
    for event in found:
        [values] = event["values"]
        assert values.shape == (28, 28)
        assert (values.min(), values.max() <= 1.0) == (0.0, True)
        assert event["label"] in map(str, range(10))
    assert not np.array_equal(found[0]["values"][0], found[1]["values"][0])
