"""Figures from counts and residuals, and the metric of a task, against values by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.tensor.creation import to_tensor
from engine.training.measuring.evaluation import evaluate
from engine.training.measuring.metrics import (
    balanced_accuracy,
    mean_absolute_error,
    metric_of,
    metric_value,
    r2_score,
    recalls,
    task_of,
)


def test_recall_of_each_class_and_their_mean() -> None:
    confusion = [[8, 2, 0], [1, 1, 0], [0, 0, 0]]
    assert recalls(confusion) == [0.8, 0.5, None]
    assert balanced_accuracy(confusion) == pytest.approx(0.65)
    assert balanced_accuracy([[0]]) is None
    assert recalls([]) == []


def test_r2_is_the_mean_over_the_targets() -> None:
    true = [[1.0, 10.0], [2.0, 20.0], [3.0, 60.0]]
    guess = [[1.0, 30.0], [2.0, 30.0], [4.0, 30.0]]
    # Of the first target 1 - 1 / 2, of the second what its mean reaches.
    assert r2_score(true, guess) == pytest.approx(0.25)
    assert mean_absolute_error(true, guess) == pytest.approx((1 + 20 + 10 + 30) / 6)


def test_r2_of_a_constant_target_is_one_or_zero() -> None:
    assert r2_score([[5.0], [5.0]], [[5.0], [5.0]]) == 1.0
    assert r2_score([[5.0], [5.0]], [[5.0], [6.0]]) == 0.0


def test_the_metric_follows_from_the_task() -> None:
    assert metric_of("numbers").text(0.93712) == "0.9371"
    assert metric_of(None).text(0.93712) == "93.71\u2009%"
    assert metric_of("classes").text(math.nan) == "–"
    assert task_of({"event": "epoch", "validation_r2": 0.5}) == "numbers"
    assert task_of({"event": "started", "config": {"task": "auto"}}) == "classes"
    assert metric_value({"validation_r2": 0.5}) == 0.5
    assert metric_value({"validation_accuracy": 0.25}) == 0.25
    assert metric_value({"event": "epoch"}) is None


def test_top_five_is_measured_above_twenty_classes() -> None:
    scores = np.arange(24, dtype=np.float32)[::-1].copy()[None].repeat(4, axis=0)
    labels = np.array([[0], [4], [5], [23]], np.int64)
    batches = [(to_tensor(np.zeros((4, 2), np.float32)), to_tensor(labels))]
    found = evaluate(lambda _: scores, batches, 24)
    assert found is not None
    assert (found.accuracy, found.top5) == (0.25, 0.5)
    assert found.measured()["validation_top5"] == 0.5
    few = evaluate(lambda _: scores[:2, :20], [(batches[0][0][:2], to_tensor(labels[:2]))], 20)
    assert few is not None
    assert "validation_top5" not in few.measured()
