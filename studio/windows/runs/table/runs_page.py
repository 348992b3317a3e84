"""The page Runs: the table of runs, and below it the diagrams of the runs that it shows."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from studio.windows.controls import PageCard, Stack
from widgets import theme
from widgets.cards import EmptyState
from widgets.layouts import vertical
from widgets.retranslated import Retranslated


class RunsPage(Retranslated, QWidget):
    """Filled by its controllers: the table by one, the lower half by ``set_diagrams``."""

    def __init__(self) -> None:
        super().__init__()
        self._empty = EmptyState("", icon="table")
        self.card = PageCard()
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

    def show_count(self, shown: int, count: int) -> None:
        """How many of the runs the table shows; without any the page says how they come here."""
        self._stack.setCurrentIndex(1 if count else 0)
        words = self.tr("{0} of {1}").format(shown, count) if shown < count else str(count)
        self.card.set_title(self.tr("Runs"), words)

    def is_empty(self) -> bool:
        """Whether there is no run."""
        return self._stack.currentIndex() == 0

    def retranslate(self) -> None:
        """Set all texts, in the current language."""
        self._empty.set_text(
            self.tr(
                "Compares all runs and trials of sweeps, in a table and as diagrams. Train a model first."
            )
        )
