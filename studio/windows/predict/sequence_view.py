"""The sequence that a model is fed, as a curve for each value of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from widgets.image_bytes import CopyMenu
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

if TYPE_CHECKING:
    from widgets.plot import CurvePlot

MOST_CURVES = 8


class SequenceView(Retranslated, QWidget):
    """Empty until the first sequence is shown; then a plot over its steps."""

    def __init__(self) -> None:
        super().__init__()
        CopyMenu(self)
        self.plot: CurvePlot | None = None
        vertical(self, 0)
        self.hide()

    def show_steps(self, steps: NDArray[Any] | None) -> None:
        """Show the first values of a sequence [steps, values], or nothing."""
        self.setVisible(steps is not None)
        if steps is None:
            return
        if self.plot is None:
            from widgets.plot import CurvePlot

            self.plot = CurvePlot()
            self.plot.set_controls_visible(False)
            layout = self.layout()
            assert layout is not None
            layout.addWidget(self.plot)
            self.retranslate()
        self.plot.clear()
        for place in range(min(steps.shape[1], MOST_CURVES)):
            self.plot.add_series(str(place), str(place), place, smooth=False)
            self.plot.append(str(place), range(len(steps)), steps[:, place])

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        if self.plot is not None:
            self.plot.set_title("", self.tr("Step", "of a sequence"), self.tr("Value"))
