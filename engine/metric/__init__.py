"""Metrics of predictions."""

from engine.metric.metrics import Accuracy, Auc, Metric, Precision, Recall, accuracy
from engine.tensor.arguments.caught import explain_public as _explain_public

_explain_public(globals())

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]
