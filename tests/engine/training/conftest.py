"""A training without an engine below it: a tiny model in NumPy whose every step can be worked out by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.training import TrainingConfig, TrainingRun
from engine.training.measuring.evaluation import Evaluation
from engine.training.setup import Parts


class Values:
    """Stands in for a Tensor."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.shape = array.shape

    def numpy(self) -> np.ndarray:
        return self.array


class FakeStepper:
    """A weight that moves by a tenth of the batch's mean, plus noise from the global generator
    ("dropout")."""

    def __init__(self) -> None:
        self.learning_rate = 0.001
        self.weight = np.zeros(3)
        self.moment = np.zeros(3)
        self.network = SimpleNamespace(
            state_dict=lambda: {"w": self.weight.copy()}, set_state_dict=self._set_network
        )
        self.losses: Callable[[int], float] | None = None
        self.before_step: Callable[[int], None] = lambda step: None
        self.accuracies: list[float] = [0.5]
        self.validation_losses: list[float] = [1.0]
        self.steps = 0
        self.evaluations = 0
        self.measured: list[dict[str, float]] = []

    def _set_network(self, state: dict[str, Any]) -> None:
        self.weight = np.array(state["w"])

    def train(self, images: Values, labels: Values, go_on: bool) -> tuple[float, float]:
        self.before_step(self.steps)
        self.steps += 1
        self.moment = 0.9 * self.moment + images.array.mean()
        self.weight = self.weight + 0.1 * self.moment + np.random.standard_normal(3)
        loss = self.losses(self.steps) if self.losses else float(np.square(self.weight).mean())
        return loss, 0.5

    def evaluate(self, batches: Any, classes: int, stopped: Callable[[], bool]) -> Evaluation | None:
        if stopped():
            return None
        accuracy = self.accuracies[min(self.evaluations, len(self.accuracies) - 1)]
        loss = self.validation_losses[min(self.evaluations, len(self.validation_losses) - 1)]
        self.evaluations += 1
        return Evaluation(loss, accuracy, np.eye(classes, dtype=np.int64), [], np.zeros((0, 2, 2), np.uint8))

    def state_dict(self) -> dict[str, Any]:
        return {"model": {"w": self.weight.copy()}, "optimizer": {"m": self.moment.copy()}}

    def set_state_dict(self, state: dict[str, Any]) -> None:
        self.weight, self.moment = np.array(state["model"]["w"]), np.array(state["optimizer"]["m"])

    gradient_norm = 0.5

    def watch_layers(self) -> None:
        pass

    def take_layers(self) -> None:
        pass

    def take_paces(self) -> None:
        pass

    def end_epoch(self, measured: Mapping[str, float]) -> None:
        self.measured.append(dict(measured))

    def parameter_count(self) -> int:
        return 3

    def check(self, images: Any, classes: tuple[str, ...]) -> None:
        pass


class FakeLoader:
    """Five batches an epoch, in an order that the global generator decides; it can continue in the middle."""

    def __init__(self) -> None:
        self.order: list[int] = []
        self.position = 0

    def __len__(self) -> int:
        return 5

    def __iter__(self) -> Iterator[tuple[Values, Values]]:
        if not self.order:
            self.order = np.random.permutation(5).tolist()
        while self.position < 5:
            number = self.order[self.position]
            self.position += 1
            yield Values(np.full((4, 2), float(number))), Values(np.zeros((4, 1), np.int64))
        self.order, self.position = [], 0

    def state_dict(self) -> dict[str, Any]:
        return {"order": list(self.order), "position": self.position}

    def set_state_dict(self, state: dict[str, Any]) -> None:
        self.order, self.position = list(state["order"]), state["position"]


class Bench:
    """Makes runs over fakes and keeps what they tell."""

    def __init__(self) -> None:
        self.stepper = FakeStepper()
        self.events: list[dict[str, Any]] = []
        self.now = 0.0
        self.on_event: Callable[[dict[str, Any]], None] = lambda event: None

    def _parts(self, config: TrainingConfig, source: Path | None) -> Parts:
        return Parts(self.stepper, FakeLoader(), None, ("a", "b"), 20, 4)

    def _clock(self) -> float:
        self.now += 0.02
        return self.now

    def _listen(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        self.on_event(event)

    def run(self, resume: bool | str | Path = False, **settings: Any) -> TrainingRun:
        """A run over fresh fakes; the events of earlier ones are forgotten."""
        before = self.stepper
        self.stepper = FakeStepper()
        for name in ("losses", "before_step", "accuracies", "validation_losses"):
            setattr(self.stepper, name, getattr(before, name))
        self.stepper.learning_rate = settings.get("learning_rate", 0.001)
        self.events.clear()
        config = TrainingConfig(**{"epochs": 3, "seed": 5, **settings})
        return TrainingRun(config, [self._listen], resume=resume, parts=self._parts, clock=self._clock)

    def kinds(self) -> list[str]:
        """The kinds of events, in order, without ``steps``."""
        return [event["event"] for event in self.events if event["event"] != "steps"]

    def points(self) -> dict[int, float]:
        """All losses by step."""
        return {
            step: loss
            for event in self.events
            if event["event"] == "steps"
            for step, loss in zip(event["steps"], event["losses"], strict=True)
        }

    def one(self, kind: str) -> dict[str, Any]:
        """The only event of its kind."""
        (event,) = (event for event in self.events if event["event"] == kind)
        return event


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def as_dict() -> Callable[[Any], dict[str, Any]]:
    return dataclasses.asdict


def write_idx(path: Path, array: np.ndarray) -> None:
    """An IDX file of unsigned bytes."""
    head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.write_bytes(head + array.astype(np.uint8).tobytes())


@pytest.fixture(scope="session")
def bars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with IDX files of ten easy classes: a bright bar at the row that belongs to the label."""
    folder = tmp_path_factory.mktemp("bars")
    draw = np.random.default_rng(7)
    for name, count in (("train", 200), ("t10k", 50)):
        labels = draw.integers(0, 10, count)
        images = draw.integers(0, 60, (count, 28, 28))
        for image, label in zip(images, labels, strict=True):
            image[2 * label + 4 : 2 * label + 7, 4:24] = 255
        write_idx(folder / f"{name}-images-idx3-ubyte", images)
        write_idx(folder / f"{name}-labels-idx1-ubyte", labels)
    return folder
