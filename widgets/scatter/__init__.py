"""Points of two numbers each, with the line that they would be on if both were equal."""

from widgets.scatter.plot import ScatterPlot

__all__ = ["ScatterPlot"]
