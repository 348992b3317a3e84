"""Metrics by hand."""

from __future__ import annotations

import numpy as np
import pytest

from engine import metric
from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.tensor import to_tensor

SCORES = np.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.4, 0.35, 0.25]], "float32")
LABELS = np.array([[1], [1], [0], [0]])  # best, second, third, best


def test_accuracy_function() -> None:
    x, label = to_tensor(SCORES), to_tensor(LABELS)
    assert metric.accuracy(x, label).item() == 0.5
    assert metric.accuracy(x, label, k=2).item() == 0.75
    assert metric.accuracy(x, to_tensor(LABELS.astype("int32")), k=3).item() == 1.0
    assert metric.accuracy(x, label).dtype == "float32"
    assert metric.accuracy(x, label).shape == []
    correct, total = (to_tensor(np.zeros((), "int32")) for _ in range(2))
    metric.accuracy(x, label, correct=correct, total=total)
    assert (correct.item(), total.item()) == (2, 4)
    with pytest.raises(ShapeError, match=r"label must have shape \[4, 1\], one class number a sample"):
        metric.accuracy(x, to_tensor(LABELS[:, 0]))
    with pytest.raises(ArgumentError, match="k is 4"):
        metric.accuracy(x, label, k=4)


@pytest.mark.parametrize("label", [LABELS, LABELS[:, 0], np.eye(3, dtype="float32")[LABELS[:, 0]]])
def test_accuracy_metric_takes_every_form_of_labels(label: np.ndarray) -> None:
    counted = metric.Accuracy(topk=(1, 2))
    assert counted.update(counted.compute(to_tensor(SCORES), to_tensor(label))) == [0.5, 0.75]


def test_accuracy_metric_adds_up() -> None:
    counted = metric.Accuracy()
    assert counted.name() == ["acc"]
    assert counted.update(counted.compute(to_tensor(SCORES), to_tensor(LABELS))) == 0.5
    counted.update(counted.compute(to_tensor(SCORES[:1]), to_tensor(LABELS[:1])))
    assert counted.accumulate() == 3 / 5
    counted.reset()
    assert counted.accumulate() == 0.0
    assert metric.Accuracy((1, 5), name="top").name() == ["top_top1", "top_top5"]
    with pytest.raises(DTypeError, match="correct is a Tensor or a numpy array: got list"):
        counted.update([1.0])


def test_precision_and_recall() -> None:
    probabilities = np.array([[0.1], [0.6], [0.9], [0.4], [0.8]])
    truth = np.array([[0], [1], [1], [1], [0]])
    precision, recall = metric.Precision(), metric.Recall()
    precision.update(probabilities, truth)
    recall.update(to_tensor(probabilities), to_tensor(truth))
    assert precision.accumulate() == 2 / 3
    assert recall.accumulate() == 2 / 3
    precision.update(np.array([0.9, 0.5]), np.array([1, 1]))
    assert precision.accumulate() == 4 / 5, "0.5 counts as positive"
    recall.update(np.array([0.9, 0.5]), np.array([1, 1]))
    assert recall.accumulate() == 3 / 5, "0.5 rounds to even, as in Paddle"
    precision.reset()
    recall.reset()
    assert precision.accumulate() == recall.accumulate() == 0.0
    assert (precision.name(), recall.name()) == ("precision", "recall")
    with pytest.raises(ShapeError, match="one each a sample"):
        precision.update(probabilities, truth[:2])


def test_own_metric() -> None:
    class Largest(metric.Metric):
        def __init__(self) -> None:
            super().__init__()
            self.reset()

        def reset(self) -> None:
            self.value = 0.0

        def update(self, x) -> None:
            self.value = max(self.value, float(x.max()))

        def accumulate(self) -> float:
            return self.value

        def name(self) -> str:
            return "largest"

    own = Largest()
    own.update(*own.compute(to_tensor(SCORES)))
    assert own.accumulate() == pytest.approx(0.7)
    with pytest.raises(TypeError, match="abstract"):
        metric.Metric()


def test_auc_is_the_share_of_pairs_in_the_right_order() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    positive = np.round(rng.random(60) * 20) / 20  # with ties
    found = metric.Auc(num_thresholds=20)
    for part in (slice(0, 25), slice(25, 60)):
        found.update(np.stack([1 - positive[part], positive[part]], 1), truth[part, None])
    ups, downs = positive[truth == 1], positive[truth == 0]
    pairs = [(u > d) + (u == d) / 2 for u in ups for d in downs]
    assert found.accumulate() == pytest.approx(np.mean(pairs))
    assert found.name() == "auc"
    found.reset()
    assert found.accumulate() == 0.0


def test_auc_of_what_is_no_probability() -> None:
    with pytest.raises(ArgumentError, match=r"0 to 1: got -0.5 to 3.0"):
        metric.Auc().update(np.array([[0, 3.0], [0, -0.5]]), np.array([1, 0]))
    with pytest.raises(ShapeError, match=r"\[3\]"):
        metric.Auc().update(np.zeros(3), np.zeros(3))
    with pytest.raises(ArgumentError, match="positive integer"):
        metric.Auc(num_thresholds=0)
