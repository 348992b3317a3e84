"""Metrics."""

from engine.metric.metrics import Accuracy, Metric, Precision, Recall, accuracy

__all__ = ["Accuracy", "Metric", "Precision", "Recall", "accuracy"]
