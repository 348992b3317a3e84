"""The confusion matrix of a classifier."""

from widgets.confusion.matrix import ConfusionMatrix

__all__ = ["ConfusionMatrix"]
