"""Curves of runs: every point kept, raw trace faint, smoothed line on top."""

from widgets.plot.controls import SmoothingControl
from widgets.plot.curve_plot import CurvePlot

__all__ = ["CurvePlot", "SmoothingControl"]
