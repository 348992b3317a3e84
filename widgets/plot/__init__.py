"""Curves of runs: every point kept, raw trace faint, smoothed line on top."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widgets.plot.controls import SmoothingControl
    from widgets.plot.curve_plot import CurvePlot

__all__ = ["CurvePlot", "SmoothingControl"]


def __getattr__(name: str) -> Any:
    """The classes, imported when they are asked for: pyqtgraph takes long, and a first window has no plot."""
    if name == "CurvePlot":
        from widgets.plot.curve_plot import CurvePlot

        return CurvePlot
    if name == "SmoothingControl":
        from widgets.plot.controls import SmoothingControl

        return SmoothingControl
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
