"""One tensor: its statistics, a histogram, its channels as images, and a table of any size."""

from widgets.tensor_view.data import Block, Counts, Planes, Statistics
from widgets.tensor_view.image_grid import ImageGrid
from widgets.tensor_view.table import TensorTable
from widgets.tensor_view.tensor_view import TensorView

__all__ = ["Block", "Counts", "ImageGrid", "Planes", "Statistics", "TensorTable", "TensorView"]
