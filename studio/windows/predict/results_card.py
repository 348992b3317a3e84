"""ResultsCard: the predictions of many samples as a table, in place of the inputs of one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QPushButton, QTableWidget, QTableWidgetItem

from studio.windows.controls import PageCard
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.retranslated import Retranslated

NARROWEST, WIDEST = 96, 420


class _Cell(QTableWidgetItem):
    """A text that is sorted by its number where it has one; a missing one comes last."""

    def __init__(self, text: str, number: float = math.nan) -> None:
        super().__init__(text)
        self._number = number
        if not math.isnan(number):
            self.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def __lt__(self, other: QTableWidgetItem) -> bool:
        if isinstance(other, _Cell) and not (math.isnan(self._number) and math.isnan(other._number)):
            return math.isnan(other._number) or self._number < other._number
        return super().__lt__(other)


class ResultsCard(Retranslated, PageCard):
    """``closed`` asks for the inputs again."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.table, self.summary, self.close_button = QTableWidget(), mute(wrap=True), QPushButton()
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.verticalHeader().hide()
        set_icon(self.close_button, "cancel")
        self.close_button.clicked.connect(self.closed)
        self.header.addWidget(self.close_button)
        self.body.addWidget(self.summary)
        self.body.addWidget(self.table, 1)
        self.retranslate()

    def show_results(
        self, source: str, titles: Sequence[str], rows: Sequence[Sequence[tuple[str, float]]], summary: str
    ) -> None:
        """Show a row for each sample, cells of (text, number to sort by or NaN), in their order."""
        self.set_title(self.tr("Predictions"), source)
        self.summary.setText(summary)
        self.table.setSortingEnabled(False)
        self.table.setRowCount(0)
        self.table.setColumnCount(len(titles))
        self.table.setHorizontalHeaderLabels(list(titles))
        self.table.setRowCount(len(rows))
        for place, row in enumerate(rows):
            for column, (text, number) in enumerate(row):
                self.table.setItem(place, column, _Cell(text, number))
        self.table.resizeColumnsToContents()
        for column in range(len(titles)):
            width = min(max(self.table.columnWidth(column), NARROWEST), WIDEST)
            self.table.setColumnWidth(column, width)
        self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.table.setSortingEnabled(True)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.close_button.setText(self.tr("Close"))
        self.close_button.setToolTip(self.tr("Close the table and show the inputs again"))
        self.table.setAccessibleName(self.tr("Predictions"))
