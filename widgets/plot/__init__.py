"""Curves of runs: every point is stored, the raw trace is faint, the smoothed line is on top."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widgets.plot.controls import SmoothingControl
    from widgets.plot.curve_plot import CurvePlot

__all__ = ["CurvePlot", "SmoothingControl"]


# pyqtgraph's widget for raw images brings CUDA along where its Python libraries are installed (12 MB).
_UNUSED = "pyqtgraph.widgets.RawImageWidget"
if "pyqtgraph" not in sys.modules:
    sys.modules.setdefault(_UNUSED, ModuleType(_UNUSED, "Omitted: no plot shows raw images."))


def __getattr__(name: str) -> Any:
    """The classes, imported when they are asked for: pyqtgraph takes long, and a first window has no plot."""
    if name == "CurvePlot":
        from widgets.plot.curve_plot import CurvePlot

        return CurvePlot
    if name == "SmoothingControl":
        from widgets.plot.controls import SmoothingControl

        return SmoothingControl
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
