"""Answers before and after quantization: what is counted of them."""

from __future__ import annotations

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.quantization.comparison import compare
from engine.quantization.report import Accuracy, Changed

BEFORE = np.eye(3, dtype=np.float32)[[0, 1, 1, 0]]
AFTER = np.eye(3, dtype=np.float32)[[0, 1, 0, 1]]
LABELS = np.array([0, 1, 1, 1])


def test_changed_answers_are_counted_by_class() -> None:
    found = compare(BEFORE, AFTER, LABELS, ("cat", "dog"))
    assert found.difference == 1.0
    assert found.accuracy == Accuracy(0.75, 0.75, 4)
    assert found.per_class is not None
    assert found.per_class.classes == ("cat", "dog", "2")
    assert found.per_class.float == (1.0, pytest.approx(2 / 3), None)
    assert found.per_class.quantized == (1.0, pytest.approx(2 / 3), None)
    assert found.changed == (Changed(2, 1, 1, 0), Changed(3, 1, 0, 1))
    assert found.changed_count == 2
    assert found.confusion_difference == ((0, 0, 0), (0, 0, 0), (0, 0, 0))


def test_the_confusion_difference_is_quantized_minus_float() -> None:
    found = compare(BEFORE[:3], AFTER[:3], LABELS[:3], places=np.array([5, 7, 9]))
    assert found.changed == (Changed(9, 1, 1, 0),)
    assert found.confusion_difference == ((0, 0, 0), (1, -1, 0), (0, 0, 0))
    assert found.accuracy is not None
    assert found.accuracy.drop == pytest.approx(100 / 3)


def test_without_labels_only_the_difference_is_known() -> None:
    found = compare(BEFORE, AFTER + 0.5)
    assert (found.difference, found.accuracy, found.changed) == (1.5, None, ())


def test_at_most_200_changed_samples_are_listed_and_all_are_counted() -> None:
    before, after = np.eye(2)[np.zeros(300, int)], np.eye(2)[np.ones(300, int)]
    found = compare(before, after, np.zeros(300, np.int64))
    assert (len(found.changed), found.changed_count) == (200, 300)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"another shape: \[4, 2\] against \[4, 3\]"):
        compare(BEFORE, AFTER[:, :2])
