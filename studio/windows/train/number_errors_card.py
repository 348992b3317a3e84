"""The errors of a run that predicts numbers: predicted over true, residuals, and the worst test samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from studio.windows.columns import Columns
from studio.windows.controls import PageCard, Stack
from studio.windows.train.number_correction import NumberCorrection
from studio.windows.train.sample_images import Content, draw_sample, row_lines
from widgets.cards import Chip, EmptyState
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated
from widgets.scatter import ScatterPlot

HIGH = 72
MOST_VALUES = 6
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class _SampleStrip(QWidget):
    """An image or the curves of a sequence, as wide as there is room."""

    def __init__(self) -> None:
        super().__init__()
        self._content: Content | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_content(self, content: Content | None) -> None:
        self._content = content
        self.setVisible(content is not None)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(HIGH, HIGH)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._content is not None:
            draw_sample(QPainter(self), QRectF(self.rect()), self._content)


class NumberErrorsCards(Retranslated, QWidget):
    """Two cards next to each other. ``target_chosen`` carries the place of another number to predict,
    ``sample_chosen`` the row of a sample that was selected."""

    target_chosen = Signal(int)
    sample_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.scatter, self.residuals, self.target = ScatterPlot(), Chip(checkable=True), QComboBox()
        self.table = QTableWidget(0, 4)
        self.values, self.sample = mute(wrap=True), _SampleStrip()
        self.correction = NumberCorrection()
        self.correction.hide()
        self._filling = False
        self._shown: Sequence[Content | None] = ()
        self._points: tuple[Any, Any, str] = (np.zeros(0), np.zeros(0), "")
        self._epoch = 0
        self._none = EmptyState("")
        self._stack = Stack(self._none, self.scatter)
        self.plot_card, self.worst_card = PageCard(), PageCard()
        self.residuals.setChecked(False)
        self.plot_card.header.addWidget(self.target)
        self.plot_card.header.addWidget(self.residuals)
        self.plot_card.body.addWidget(self._stack, 1)
        for widget, share in (
            (self.table, 1),
            (self.sample, 0),
            (self.values, 0),
            (self.correction, 0),
        ):
            self.worst_card.body.addWidget(widget, share)
        self.table.currentCellChanged.connect(self._choose)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setDefaultAlignment(RIGHT)
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
        self._filling = True
        self.table.setRowCount(len(worst))
        for line, row in enumerate(worst):
            for column, text in enumerate(row):
                item = QTableWidgetItem(text)
                item.setTextAlignment(RIGHT)
                self.table.setItem(line, column, item)
        self._filling = False
        self._shown = shown
        self.correction.setVisible(0 <= self.table.currentRow() < len(worst))
        self._show_sample(max(self.table.currentRow(), 0))
        self._draw()

    def _choose(self, row: int, _column: int, before: int, *_: int) -> None:
        self._show_sample(row)
        if row >= 0 and row != before and not self._filling:
            self.correction.setVisible(True)
            self.correction.reset()
            self.sample_chosen.emit(row)

    def _show_sample(self, row: int) -> None:
        """Show the values of the sample in this row of the table."""
        content = self._shown[row] if row < len(self._shown) else None
        is_row = content is not None and not isinstance(content, np.ndarray)
        lines = row_lines(content) if is_row else []
        self.sample.show_content(None if is_row else content)
        more = len(lines) > MOST_VALUES
        self.values.setText(", ".join(lines[:MOST_VALUES]) + (", \u2026" if more else ""))
        self.values.setToolTip("\n".join(lines))
        self.values.setVisible(bool(lines))

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
        self.table.setAccessibleName(tr("Test samples with the largest errors"))
        self.table.setHorizontalHeaderLabels([tr("Sample"), tr("True"), tr("Predicted"), tr("Error")])
        self._none.set_text(tr("Predicted and true numbers appear after the first epoch."))
        self._draw()
