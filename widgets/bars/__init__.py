"""Probabilities as bars."""

from widgets.bars.bars import ProbabilityBars

__all__ = ["ProbabilityBars"]
