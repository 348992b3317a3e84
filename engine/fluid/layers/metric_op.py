"""Metrics of a batch: ``accuracy`` and ``auc``."""

from __future__ import annotations

from typing import Any

from engine.fluid.layers.adapting import adapter
from engine.static import metrics


@adapter
def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> Any:
    """The share of samples whose class is among the ``k`` largest of ``input``: float32 [1]."""
    return metrics.accuracy(input, label, k, correct, total)


@adapter
def auc(
    input: Any, label: Any, curve: str = "ROC", num_thresholds: int = 4095, topk: int = 1,
    slide_steps: int = 1,
) -> Any:  # fmt: skip
    """The area under the curve over all runs, over the last ones, and the Variables that keep the counts."""
    return metrics.auc(input, label, curve, num_thresholds, topk, slide_steps)
