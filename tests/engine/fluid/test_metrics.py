"""fluid.metrics and fluid.average, by hand and against the metrics of paddle 2 where these agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, DTypeError, UnsupportedError
from engine.fluid import metrics

PREDS = np.array([[0.1], [0.7], [0.8], [0.9], [0.2], [0.2], [0.3], [0.5], [0.8], [0.6]])
LABELS = np.array([[0], [1], [1], [1], [1], [0], [0], [0], [0], [0]])


def test_precision_and_recall_round_halves_to_even() -> None:
    """Called positive: 0.7 0.8 0.9 0.8 0.6, not 0.5. Right: three. Positive: four."""
    precision, recall = metrics.Precision(), metrics.Recall()
    both = metrics.CompositeMetric()
    both.add_metric(precision)
    both.add_metric(recall)
    both.update(PREDS[:4], LABELS[:4])
    both.update(PREDS[4:], LABELS[4:])
    assert both.eval() == [3 / 5, 3 / 4]
    assert (precision.tp, precision.fp, recall.fn) == (3, 2, 1)
    assert precision.get_config() == {"name": "Precision", "states": {"tp": 3, "fp": 2}}
    both.reset()
    assert both.eval() == [0.0, 0.0]
    with pytest.raises(ArgumentError, match="MetricBase"):
        both.add_metric(engine.metric.Precision())
    with pytest.raises(DTypeError, match="preds"):
        precision.update([0.5], LABELS[:1])


def test_accuracy_weighs_batches() -> None:
    accuracy = metrics.Accuracy(name="top1")
    assert str(accuracy) == "top1"
    with pytest.raises(ArgumentError, match="There is no data in Accuracy Metrics"):
        accuracy.eval()
    accuracy.update(value=np.array([0.5], np.float32), weight=6)
    accuracy.update(value=0.8, weight=2)
    assert accuracy.eval() == pytest.approx((3 + 1.6) / 8)
    for value, weight in (("0.5", 1), (0.5, None), (np.ones(2), 1), (0.5, -1)):
        with pytest.raises(ArgumentError, match=r"must (not )?be"):
            accuracy.update(value, weight)
    with fluid.dygraph.guard():
        accuracy.reset()
        accuracy.update(fluid.dygraph.to_variable(np.array([0.25], np.float32)), 4)
    assert accuracy.eval() == 0.25


def test_chunks_are_counted() -> None:
    chunks = metrics.ChunkEvaluator()
    assert chunks.eval() == (0.0, 0.0, 0.0)
    chunks.update(10, np.array([9]), np.int64(4))
    chunks.update(5, 3, 3)
    assert chunks.eval() == pytest.approx((7 / 15, 7 / 12, 2 * 7 / 27))


def test_edit_distances() -> None:
    distances = metrics.EditDistance()
    with pytest.raises(ArgumentError, match="no data"):
        distances.eval()
    distances.update(np.array([[0.0], [2.0], [1.0]]), 3)
    distances.update(np.array([[0.0]]), np.array([1]))
    assert distances.eval() == (3 / 4, 2 / 4)


def test_auc_is_that_of_every_pair() -> None:
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 200, 60) / 200  # ties too; each value has a bin of its own
    labels = (rng.random(60) < scores).astype(np.int64)
    auc = metrics.Auc(name="auc", curve="ROC", num_thresholds=4000)
    for part in (slice(0, 25), slice(25, 60)):
        auc.update(np.stack([1 - scores[part], scores[part]], 1), labels[part, None])
    higher = np.sign(scores[labels == 1][:, None] - scores[labels == 0][None])
    assert auc.eval() == pytest.approx(((higher + 1) / 2).mean())
    auc.reset()
    assert auc.eval() == 0.0


class Largest(metrics.MetricBase):
    """A script's own: its public attributes are reset, others are not."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.value, self.each, self.seen = 0, 0.0, np.zeros(2), ["x"]
        self._kept = 7

    def update(self, preds: Any, labels: Any) -> None:
        self.count += 1
        self.value, self.each = max(self.value, float(preds.max())), self.each + preds


def test_a_metric_of_a_script() -> None:
    metric = Largest()
    metric.update(np.array([1.0, 3.0]), None)
    states = metric.get_config()["states"]
    assert (states["count"], states["value"], states["each"].tolist()) == (1, 3.0, [1.0, 3.0])
    metric.reset()
    assert (metric.count, metric.value, metric.each.tolist(), metric.seen, metric._kept) == (
        0,
        0.0,
        [0, 0],
        None,
        7,
    )
    with pytest.raises(NotImplementedError, match=r"Largest\.eval"):
        metric.eval()


def test_detection_map_is_refused_because_it_needs_lod() -> None:
    with pytest.raises(UnsupportedError, match="DetectionMAP"):
        metrics.DetectionMAP(None, None, None)


def test_a_weighted_average() -> None:
    average = fluid.average.WeightedAverage()
    with pytest.raises(ArgumentError, match="no data"):
        average.eval()
    average.add(2.0, 1)
    average.add(np.array([4.0]), 3)
    assert average.eval() == [3.5]
    with pytest.raises(ArgumentError, match="must be a number"):
        average.add("2", 1)
    average.reset()
    average.add(1, 2)
    assert average.eval() == 1
