"""The page Runs: the table of runs, and below it the diagrams of the runs that it shows."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget

from studio.windows.controls import PageCard, Stack
from studio.windows.runs.table.columns_panel import ColumnsPanel
from studio.windows.runs.table.filter_field import FilterField
from widgets import theme
from widgets.cards import EmptyState
from widgets.column_table import Cell, ColumnTable
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

LEAST_ROWS = 3
HALF = 500


class RunsPage(Retranslated, QWidget):
    """Filled by its controllers: the table by one, the lower half by ``set_diagrams``.

    ``cell`` gives the cell of a run in a column. ``shown`` follows when the page comes into sight.
    """

    shown = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.cell: Callable[[str, str], Cell] = lambda folder, column: Cell()
        self.filter, self.columns = FilterField(), ColumnsPanel()
        self.table = ColumnTable(lambda folder, column: self.cell(folder, column))
        self.table.setMinimumHeight((LEAST_ROWS + 1) * theme.CONTROL_HEIGHT)
        self._empty, self._nothing = EmptyState("", icon="table"), EmptyState("")
        self._found = Stack(self.table, self._nothing)
        self.card = PageCard()
        self.card.header.addWidget(self.filter, 1)
        self.card.header.setStretch(0, 0)  # the field begins where the title ends
        self.card.body.addWidget(self.filter.reason)
        self.card.body.addWidget(self._found, 1)
        self.halves = QSplitter(Qt.Orientation.Vertical)
        self.halves.addWidget(self.card)
        self.halves.setChildrenCollapsible(False)
        self.halves.setHandleWidth(theme.SPACE_M)
        full = QWidget()
        vertical(full, theme.PAGE_PADDING, spacing=None).addWidget(self.halves)
        self._stack = Stack(self._empty, full)
        vertical(self, 0, spacing=None).addWidget(self._stack)
        self.retranslate()

    def set_diagrams(self, diagrams: QWidget) -> None:
        """Show this below the table, in as much height as the table."""
        self.halves.addWidget(diagrams)
        for place in range(self.halves.count()):
            self.halves.setStretchFactor(place, 1)
        self.halves.setSizes([HALF] * self.halves.count())

    def show_count(self, shown: int, count: int) -> None:
        """How many of the runs the table shows; without any the page says how they come here."""
        self._stack.setCurrentIndex(1 if count else 0)
        self._found.setCurrentIndex(0 if shown or not count else 1)
        words = self.tr("{0} of {1}").format(shown, count) if shown < count else str(count)
        self.card.set_title(self.tr("Runs"), words)

    def is_empty(self) -> bool:
        """Whether the table is empty."""
        return self._stack.currentIndex() == 0

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()

    def retranslate(self) -> None:
        """Set all texts, in the current language."""
        self.table.setAccessibleName(self.tr("Table of runs"))
        self.table.header.setAccessibleName(self.tr("Columns"))
        self._nothing.set_text(self.tr("No run matches the filter."))
        self._empty.set_text(
            self.tr(
                "Compares all runs and trials of sweeps, in a table and as diagrams. Train a model first."
            )
        )
