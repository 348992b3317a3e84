"""What a training reports about its layers: norms, ratios, histograms, dead units, and the alerts that
follow."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import nn
from engine.optimizer import SGD
from engine.tensor.creation import to_tensor
from engine.training import TrainingConfig, TrainingRun
from engine.training.layers.alerts import LayerAlerts
from engine.training.layers.watch import LayerReading, histogram
from engine.training.stepper import Stepper


class Net(nn.Layer):
    """Two layers with a ReLU between them, called as a function."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(3, 2)

    def forward(self, x: Any) -> Any:
        return self.second(nn.functional.relu(self.first(x)))


def step(network: Any, static: bool = False, rate: float = 0.5) -> tuple[Stepper, LayerReading]:
    """One step that is looked at."""
    stepper = Stepper(network, SGD(rate, parameters=network.parameters()), static, (4,))
    draw = np.random.default_rng(0)
    images = to_tensor(draw.normal(size=(8, 4)).astype(np.float32))
    labels = to_tensor(draw.integers(0, 2, (8, 1)))
    stepper.watch_layers()
    stepper.train(images, labels)
    reading = stepper.take_layers()
    assert reading is not None
    assert stepper.take_layers() is None
    stepper.train(images, labels)
    assert stepper.take_layers() is None
    return stepper, reading


@pytest.mark.parametrize("static", [False, True])
def test_a_look_measures_one_update(static: bool) -> None:
    network = Net()
    before = {name: value.numpy() for name, value in network.named_parameters()}
    _, reading = step(network, static)
    states = {state["name"]: state for state in reading.parameters}
    assert list(states) == ["first.weight", "first.bias", "second.weight", "second.bias"]
    for name, state in states.items():
        assert state["size"] == before[name].size
        assert state["matrix"] == (name.endswith("weight"))
        assert state["norm"] == pytest.approx(np.linalg.norm(before[name]), rel=1e-5)
        assert sum(state["weights"]["counts"]) == sum(state["gradients"]["counts"]) == state["size"]
        if state["norm"]:  # plain descent: an update is the gradient times the rate
            assert state["ratio"] == pytest.approx(0.5 * state["gradient_norm"] / state["norm"], rel=1e-3)
        else:
            assert math.isnan(state["ratio"])
    assert [(unit["name"], unit["operator"], unit["units"]) for unit in reading.units] == [
        ("first", "relu", 3)
    ]
    assert reading.seconds > 0


def test_the_gradient_norm_is_that_of_all_gradients_before_clipping() -> None:
    network = Net()
    clipped = SGD(0.0, parameters=network.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1e-6))
    stepper = Stepper(network, clipped, False, (4,))
    assert math.isnan(stepper.gradient_norm)
    images, labels = to_tensor(np.ones((2, 4), np.float32)), to_tensor(np.zeros((2, 1), np.int64))
    stepper.train(images, labels)
    loss, _ = stepper._step(images, labels)
    loss.backward()
    expected = math.sqrt(sum(float(np.square(p.grad.numpy()).sum()) for p in network.parameters()))
    assert stepper.gradient_norm == pytest.approx(expected, rel=1e-5)


def test_units_that_are_zero_for_all_samples_are_dead() -> None:
    network = Net()
    network.first.bias.set_value(np.array([-1e4, -1e4, 1e4], np.float32))
    _, reading = step(network)
    assert [(unit["units"], unit["dead"]) for unit in reading.units] == [(3, 2)]
    alerts = LayerAlerts()
    kinds = [each["kind"] for number in (5, 6) for each in alerts.judge(reading, number, 2)]
    assert "dead" not in kinds  # up to three quarters are usual
    network.first.bias.set_value(np.full(3, -1e4, np.float32))
    _, reading = step(network)
    assert "dead" not in [each["kind"] for each in alerts.judge(reading, 7, 2)]
    (alert,) = [each for each in alerts.judge(reading, 8, 2) if each["kind"] == "dead"]
    assert (alert["layer"], alert["step"], alert["epoch"], alert["value"]) == ("first", 8, 2, 1.0)
    assert alert["message"].startswith("first, step 8: 3 of 3 units of its relu are zero for every image")


def state(name: str = "a", **changes: Any) -> Any:
    counts = histogram(np.arange(4.0))
    return {
        "name": name,
        "size": 4,
        "matrix": True,
        "norm": 1.0,
        "gradient_norm": 1.0,
        "ratio": 1e-3,
        "weights": counts,
        "gradients": counts,
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "kind", "looks"),
    [
        ({"ratio": 0.5}, "ratio_high", 3),
        ({"ratio": 1e-6}, "ratio_low", 3),
        ({"gradient_norm": 1e-9}, "vanishing", 2),
        ({"gradient_norm": 1e5}, "exploding", 1),
        ({"gradients": histogram(np.array([1.0, np.nan]))}, "nan_gradient", 1),
        ({"weights": histogram(np.array([1.0, np.inf]))}, "nan_weights", 1),
        ({"ratio": 0.5, "matrix": False}, "", 0),
        ({}, "", 0),
    ],
)
def test_an_alert_comes_once_when_it_has_lasted(changes: Any, kind: str, looks: int) -> None:
    alerts = LayerAlerts()
    reading = LayerReading([state("sound"), state("odd", **changes)])
    reported = [[(each["layer"], each["kind"]) for each in alerts.judge(reading, n, 1)] for n in range(1, 6)]
    assert reported == [[("odd", kind)] if kind and n == looks else [] for n in range(1, 6)]
    alerts.judge(LayerReading([state("sound"), state("odd")]), 6, 1)  # gone: it may come again
    again = [len(alerts.judge(reading, n, 1)) for n in range(7, 12)]
    assert sum(again) == (1 if kind else 0)


def test_small_updates_are_expected_where_the_schedule_has_lowered_the_rate() -> None:
    reading = LayerReading([state("odd", ratio=1e-6)])
    for share, count in ((1.0, 1), (0.6, 1), (0.5, 0), (0.0, 0)):
        alerts = LayerAlerts()
        assert sum(len(alerts.judge(reading, n, 1, share)) for n in range(1, 6)) == count


def test_updates_count_by_what_they_were_at_the_whole_rate_where_the_schedule_has_lowered_it() -> None:
    reading = LayerReading([state("odd", ratio=7e-5)])
    for share, count in ((1.0, 1), (0.8, 1), (0.6, 0)):
        alerts = LayerAlerts()
        assert sum(len(alerts.judge(reading, n, 1, share)) for n in range(1, 6)) == count


def test_histograms_count_what_numpy_counts() -> None:
    values = np.random.default_rng(2).normal(size=(50, 7)).astype(np.float32)
    found = histogram(values)
    counts, edges = np.histogram(values, bins=32)
    assert (found["low"], found["high"], found["bad"]) == (edges[0], edges[-1], 0)
    assert np.abs(np.cumsum(found["counts"]) - np.cumsum(counts)).max() <= 2  # rounding at the borders
    assert histogram(np.full(3, 0.5)) == {"low": 0.5, "high": 0.5, "counts": [3], "bad": 0}
    assert histogram(np.array([np.nan]))["bad"] == 1


def test_a_training_reports_and_writes_what_it_saw_and_is_not_disturbed(bars: Path, tmp_path: Path) -> None:
    weights = []
    for every in (0, 1):
        events: list[Any] = []
        config = TrainingConfig(
            data=str(bars),
            model="linear",
            epochs=2,
            batch_size=50,
            layers_every=every,
            out=str(tmp_path / f"every-{every}"),
        )
        run = TrainingRun(config, [events.append])
        run.run()
        weights.append(run.network.state_dict())
        reported = [event["step"] for event in events if event["event"] == "layers"]
        assert reported == ([1, 4, 8] if every == 0 else list(range(1, 9)))
        lines = [
            json.loads(line) for line in (tmp_path / f"every-{every}/journal.jsonl").read_text().splitlines()
        ]
        assert [line["step"] for line in lines if line["event"] == "layers"] == reported
        steps = [line for line in lines if line["event"] == "step"]
        assert all(line["scalar:gradient_norm"] > 0 and line["memory"] > 0 for line in steps)
    for name, value in weights[0].items():
        np.testing.assert_array_equal(value.numpy(), weights[1][name].numpy())
