"""How numbers are spread: a histogram, and a small line of how one number went."""

from widgets.distribution.histogram import Histogram
from widgets.distribution.sparkline import SparklineDelegate

__all__ = ["Histogram", "SparklineDelegate"]
