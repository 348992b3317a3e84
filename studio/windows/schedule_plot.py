"""The small plot of a schedule: the learning rate over the steps of the next run."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.windows.controls import mute
from widgets import theme
from widgets.plot import CurvePlot

RATE, HEIGHT = "rate", 140


class SchedulePlot(QWidget):
    """Hidden while there is nothing to show."""

    def __init__(self) -> None:
        super().__init__()
        self._unit = "step"
        self.plot = CurvePlot()
        self.plot.set_controls_visible(False)
        self.plot.setFixedHeight(HEIGHT)
        self._words = mute(wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(self.plot)
        layout.addWidget(self._words)
        self.retranslate()
        self.hide()

    def show_plan(self, steps: Sequence[float], rates: Sequence[float], unit: str, words: str) -> None:
        """Show rates over steps (or epochs, as ``unit`` says), and words below them; neither hides it."""
        self._unit = unit
        self.plot.clear()
        if len(steps):
            self.plot.add_series(RATE, self.tr("rate"), 0, smooth=False)
            self.plot.append(RATE, steps, rates)
        self.plot.setVisible(bool(len(steps)))
        self._words.setText(words)
        self._words.setVisible(bool(words))
        self.setVisible(bool(len(steps) or words))
        self.retranslate()

    def words(self) -> str:
        """What is said below the plot."""
        return self._words.text()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        unit = self.tr("epoch") if self._unit == "epoch" else self.tr("step")
        self.plot.set_title(self.tr("Learning rate of the run"), unit)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)
