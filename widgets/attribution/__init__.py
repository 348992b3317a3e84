"""Why a model answers as it does: a map over an image, a bar for each column, and the legend of both."""

from widgets.attribution.column_bars import ColumnBars
from widgets.attribution.legend import ShadeLegend
from widgets.attribution.map_view import MapView
from widgets.attribution.shades import Shades

__all__ = ["ColumnBars", "MapView", "ShadeLegend", "Shades"]
