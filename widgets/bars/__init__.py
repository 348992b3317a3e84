"""Bars: probabilities of classes, how many samples each has, and a list of things that were measured."""

from widgets.bars.bars import ProbabilityBars
from widgets.bars.counts import CountBars
from widgets.bars.measured import MeasuredBars, MeasuredRow

__all__ = ["CountBars", "MeasuredBars", "MeasuredRow", "ProbabilityBars"]
