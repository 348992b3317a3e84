"""The small plot of a schedule: the learning rate over the steps of the next run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget

from resources import quantities
from widgets import theme
from widgets.image_bytes import CopyMenu
from widgets.labels import mute, section
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

if TYPE_CHECKING:
    from widgets.plot.chart import Chart
    from widgets.plot.series import Floats, Series

RATE, HEIGHT = "rate", 130


class SchedulePlot(Retranslated, QWidget):
    """Hidden while there is nothing to show; narrow enough for a dock, so without the actions of a plot.

    The chart is made with the first plan: what draws it takes long to import.
    """

    def __init__(self) -> None:
        super().__init__()
        CopyMenu(self)
        self._unit = "step"
        self._series: Series | None = None
        self._chart: Chart | None = None
        self._title, self._words = section(), mute(wrap=True)
        self._layout = vertical(self, (0, 0, 0, theme.SPACE_S), theme.SPACE_XS)
        self._layout.addWidget(self._title)
        self._layout.addWidget(self._words)
        self.retranslate()
        self.hide()

    def show_plan(self, steps: Sequence[float], rates: Sequence[float], unit: str, words: str) -> None:
        """Show rates over steps (or epochs, as ``unit`` says), and words below them; neither hides it."""
        self._unit = unit
        if len(steps) or self._chart is not None:
            self._show_rates(steps, rates)
        self._words.setText(words)
        self._words.setVisible(bool(words))
        self.setVisible(bool(len(steps) or words))
        self.retranslate()

    def _show_rates(self, steps: Sequence[float], rates: Sequence[float]) -> None:
        from widgets.plot.chart import Chart
        from widgets.plot.series import Series

        series = self._series = Series(RATE, "", 0, dashed=False, smoothable=False)
        series.extend(np.asarray(steps, np.float64), np.asarray(rates, np.float64))
        if self._chart is None:
            self._chart = Chart(lambda: [self._series] if self._series is not None else [], self._row_at)
            self._chart.setFixedHeight(HEIGHT)
            self._layout.insertWidget(1, self._chart)
        self._chart.setVisible(bool(len(steps)))
        self._chart.show_whole()

    def points(self) -> tuple[Floats, Floats]:
        """Steps and rates as they are shown."""
        if self._series is None:
            return np.empty(0), np.empty(0)
        return self._series.xs.view().copy(), self._series.ys.view().copy()

    def words(self) -> str:
        """What is said below the plot."""
        return self._words.text()

    def _row_at(self, x: float) -> str:
        index = self._series.nearest(x) if self._series is not None else None
        if self._series is None or index is None:
            return ""
        rate = quantities.learning_rate(float(self._series.ys.view()[index]))
        return f"{self._unit_word()} {theme.format_number(x, digits=7)}: <b>{rate}</b>"

    def _unit_word(self) -> str:
        return self.tr("epoch") if self._unit == "epoch" else self.tr("step")

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._title.setText(self.tr("Learning rate of the run"))
        if self._chart is None:
            return
        self._chart.set_titles(self._unit_word(), "")
        self._chart.setAccessibleName(self.tr("Learning rate of the run, chart"))
        steps, rates = self.points()
        if len(rates):
            low, high = (quantities.learning_rate(float(f(rates))) for f in (np.min, np.max))
            self._chart.setAccessibleDescription(
                self.tr("Over {0} steps or epochs, lowest {1}, highest {2}").format(int(steps[-1]), low, high)
            )
