"""What diagrams of many rows share: columns, scales, colours, the legend, slices of painting, the export."""

from widgets.diagram.color_scale import ColorScale
from widgets.diagram.column import Better, Column
from widgets.diagram.diagram import Diagram
from widgets.diagram.layer import Layer
from widgets.diagram.legend import paint_legend
from widgets.diagram.scale import Scale

__all__ = ["Better", "ColorScale", "Column", "Diagram", "Layer", "Scale", "paint_legend"]
