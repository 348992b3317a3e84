"""Points of two numbers each: with the line where both are equal, or rows of two columns with their front."""

from widgets.scatter.column_scatter import ColumnScatter
from widgets.scatter.pareto import pareto_front
from widgets.scatter.plot import ScatterPlot

__all__ = ["ColumnScatter", "ScatterPlot", "pareto_front"]
