"""The points of a run from its journal: what was measured next to loss and accuracy, on every axis."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from studio.controllers.train.curve_points import Points, points_of
from studio.session.runs.run_history import RunHistory, read_history


def line(step: int, elapsed: float, **more: Any) -> dict[str, Any]:
    return {
        "event": "step",
        "step": step,
        "loss": 1.0 / step,
        "accuracy": 0.5,
        "elapsed": elapsed,
        "learning_rate": 0.1,
        "samples_per_second": 50.0,
        **more,
    }


@pytest.fixture
def history(tmp_path: Path) -> RunHistory:
    events = [
        {"event": "started", "time": 1.0, "steps_per_epoch": 2, "classes": ["a", "b"], "config": {}},
        *(line(step, 2.0, memory=3_000_000, **{"scalar:gradient_norm": float(step)}) for step in (1, 2)),
        {"event": "layers", "step": 2, "epoch": 1, "parameters": [], "units": [], "seconds": 0.1},
        {
            "event": "epoch",
            "epoch": 1,
            "step": 2,
            "validation_loss": 0.5,
            "validation_accuracy": 0.9,
            "seconds": 2.5,
        },
        *(line(step, 4.0) for step in (3, 4)),
        {
            "event": "layer_alert",
            "step": 4,
            "epoch": 2,
            "layer": "a",
            "kind": "dead",
            "value": 1.0,
            "message": "a, step 4: dead",
        },
        {
            "event": "epoch",
            "epoch": 2,
            "step": 4,
            "validation_loss": 0.6,
            "validation_accuracy": 0.8,
            "seconds": 4.5,
        },
    ]
    journal = "".join(json.dumps(event) + "\n" for event in events)
    (tmp_path / "journal.jsonl").write_text(journal, encoding="utf-8")
    return read_history(tmp_path)


def test_a_journal_has_more_than_loss_and_accuracy(history: RunHistory) -> None:
    assert [event["event"] for event in history.layers] == ["layers", "layer_alert"]
    points = points_of(history)
    np.testing.assert_array_equal(points.values("gradient"), [1, 2, math.nan, math.nan])
    np.testing.assert_array_equal(points.values("memory"), [3, 3, math.nan, math.nan])  # MB
    assert points.values("rate").tolist() == [0.1] * 4
    assert points.values("throughput").tolist() == [50.0] * 4


@pytest.mark.parametrize(
    ("axis", "steps", "ends"),
    [
        ("step", [1, 2, 3, 4], [2, 4]),
        ("epoch", [0.5, 1, 1.5, 2], [1, 2]),
        ("time", [1, 2, 3, 4], [2.5, 4.5]),  # two steps were reported together: they lie evenly
    ],
)
def test_points_lie_over_steps_epochs_or_seconds(
    history: RunHistory, axis: str, steps: list[float], ends: list[float]
) -> None:
    points = points_of(history)
    np.testing.assert_allclose(points.xs(axis), steps)
    xs, values = points.validated("accuracy", axis)
    assert (xs.tolist(), values.tolist()) == (ends, [0.9, 0.8])
    assert points.best(axis) == ends[0]
    assert len(points.validated("rate", axis)[0]) == 0


def test_the_best_of_equal_accuracies_has_the_lowest_loss(history: RunHistory) -> None:
    points = points_of(history)
    points.epochs = [
        {"step": step, "validation_accuracy": 0.9, "validation_loss": loss}
        for step, loss in ((2, 0.4), (4, 0.2), (6, 0.3), (8, math.nan))
    ]
    assert points.best("step") == 4


def test_an_older_journal_lacks_columns_and_an_epoch_of_unknown_length_has_no_place() -> None:
    points = points_of(RunHistory([1, 2], [2.0, 1.0], [0.1, 0.2]))
    assert np.isnan(points.values("gradient")).all()
    assert np.isnan(points.xs("epoch")).all()
    assert points.best("step") is None
    assert Points().epoch_marks("time").tolist() == []
