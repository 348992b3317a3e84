"""The errors of a run that predicts numbers: predicted over true, residuals, and the worst test samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from studio.windows.columns import Columns
from studio.windows.controls import PageCard, Stack
from studio.windows.train.number_correction import NumberCorrection
from studio.windows.train.sample_images import Content
from studio.windows.train.worst_numbers import WorstNumbers
from widgets.cards import Chip, EmptyState
from widgets.layouts import vertical
from widgets.retranslated import Retranslated
from widgets.scatter import ScatterPlot


class NumberErrorsCards(Retranslated, QWidget):
    """Two cards next to each other. ``target_chosen`` carries the place of another number to predict,
    ``sample_chosen`` the row of a sample that was selected."""

    target_chosen = Signal(int)
    sample_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.scatter, self.residuals, self.target = ScatterPlot(), Chip(checkable=True), QComboBox()
        self.worst = WorstNumbers()
        self.table, self.values, self.sample = self.worst.table, self.worst.values, self.worst.sample
        self.correction = NumberCorrection()
        self.correction.hide()
        self._points: tuple[Any, Any, str] = (np.zeros(0), np.zeros(0), "")
        self._epoch = 0
        self._none = EmptyState("")
        self._stack = Stack(self._none, self.scatter)
        self.plot_card, self.worst_card = PageCard(), PageCard()
        self.residuals.setChecked(False)
        self.plot_card.header.addWidget(self.target)
        self.plot_card.header.addWidget(self.residuals)
        self.plot_card.body.addWidget(self._stack, 1)
        self.worst_card.body.addWidget(self.worst, 1)
        self.worst_card.body.addWidget(self.correction)
        self.worst.chosen.connect(self._choose)
        self.target.activated.connect(self.target_chosen)
        self.residuals.toggled.connect(lambda _: self._draw())
        layout = vertical(self, 0, spacing=None)
        layout.addWidget(Columns(self.plot_card, self.worst_card))
        self.retranslate()
        self.set_targets(())
        self.show_errors(np.zeros(0), np.zeros(0), "", 0, ())

    def set_targets(self, names: Sequence[str], chosen: int = 0) -> None:
        """What can be chosen; one target needs no choice."""
        self.target.clear()
        self.target.addItems(list(names))
        self.target.setCurrentIndex(chosen)
        self.target.setVisible(len(names) > 1)

    def show_errors(
        self,
        true: Any,
        predicted: Any,
        unit: str,
        epoch: int,
        worst: Sequence[tuple[str, str, str, str]],
        shown: Sequence[Content | None] = (),
    ) -> None:
        """Show one target of all samples, in its unit, and rows of (sample, true, predicted, error).

        Args:
            shown: the sample of each row, None for one that is not stored.
        """
        self._points, self._epoch = (true, predicted, unit), epoch
        self.worst.show_rows(worst, shown)
        self.correction.setVisible(0 <= self.table.currentRow() < len(worst))
        self._draw()

    def _choose(self, row: int) -> None:
        self.correction.setVisible(True)
        self.correction.reset()
        self.sample_chosen.emit(row)

    def _draw(self) -> None:
        true, predicted, unit = self._points
        off = self.residuals.isChecked()
        words = f" [{unit}]" if unit else ""
        self.scatter.set_titles(
            self.tr("true") + words, (self.tr("predicted - true") if off else self.tr("predicted")) + words
        )
        self.scatter.set_points(true, predicted - true if off else predicted, "zero" if off else "equal")
        self._stack.setCurrentIndex(1 if len(true) else 0)
        when = self.tr("epoch {0}").format(self._epoch) if len(true) else ""
        self.plot_card.set_title(self.tr("Predictions"), when)
        self.worst_card.set_title(self.tr("Largest errors"), unit)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.residuals.setText(tr("Residuals"))
        self.residuals.setToolTip(tr("Show the errors over the true numbers"))
        self.target.setAccessibleName(tr("Target"))
        self._none.set_text(tr("Predicted and true numbers appear after the first epoch."))
        self._draw()
