"""A metric over a grid of two columns."""

from widgets.heat_map.cells import Statistic
from widgets.heat_map.heat_map import HeatMap

__all__ = ["HeatMap", "Statistic"]
