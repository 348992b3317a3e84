"""Bars: probabilities of classes, and how many samples each has."""

from widgets.bars.bars import ProbabilityBars
from widgets.bars.counts import CountBars

__all__ = ["CountBars", "ProbabilityBars"]
