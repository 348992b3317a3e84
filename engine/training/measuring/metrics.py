"""How well a network does: the metric of a task, and figures that follow from counts and residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from resources.metrics import Metric, balanced_accuracy, metric_of, metric_value, rank_of, recalls, task_of

__all__ = [
    "TOP_CLASSES",
    "Metric",
    "balanced_accuracy",
    "mean_absolute_error",
    "metric_of",
    "metric_value",
    "r2_score",
    "rank_of",
    "recalls",
    "task_of",
]

TOP_CLASSES = 20
"""Above so many classes the share of samples is measured whose class is among the five likeliest."""


def r2_score(targets: np.ndarray | Sequence[Any], predicted: np.ndarray | Sequence[Any]) -> float:
    """The coefficient of determination, the mean of all targets: 1 is exact, 0 what the mean reaches.

    Of a target without variance it is 1 where all is exact, else 0, as in scikit-learn. Float [n, k] both.
    """
    true, guess = (np.asarray(each, np.float64).reshape(len(each), -1) for each in (targets, predicted))
    errors = ((true - guess) ** 2).sum(axis=0)
    total = ((true - true.mean(axis=0)) ** 2).sum(axis=0)
    constant = np.where(errors > 0, 0.0, 1.0)
    return float(np.where(total > 0, 1 - errors / np.where(total > 0, total, 1.0), constant).mean())


def mean_absolute_error(targets: np.ndarray | Sequence[Any], predicted: np.ndarray | Sequence[Any]) -> float:
    """The mean absolute difference of [n, k] numbers, in the unit of the targets."""
    return float(np.abs(np.asarray(targets, np.float64) - np.asarray(predicted, np.float64)).mean())
