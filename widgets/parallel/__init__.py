"""Parallel coordinates: an axis for each column, a line for each row, and ranges that select rows."""

from widgets.parallel.parallel import ParallelCoordinates

__all__ = ["ParallelCoordinates"]
