"""The importance of settings: bars, and how they were computed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from studio.windows.controls import Stack
from widgets.bars import MeasuredBars, MeasuredRow
from widgets.cards import EmptyState
from widgets.labels import mute
from widgets.layouts import vertical


class ImportancePart(QWidget):
    """``bars`` has a row for each setting; a note below says what the numbers are."""

    def __init__(self) -> None:
        super().__init__()
        self.bars, self.note, self._empty = MeasuredBars(), mute(wrap=True), EmptyState("")
        shown = QWidget()
        column = vertical(shown, 0)
        column.addWidget(self.bars)
        column.addWidget(self.note)
        column.addStretch(1)
        self.stack = Stack(self._empty, shown)
        vertical(self, 0).addWidget(self.stack)

    def show_rows(self, title: str, rows: Sequence[MeasuredRow], notes: Sequence[str]) -> None:
        """Show the settings, the most important first; without rows the notes alone."""
        self.bars.setAccessibleName(title)
        self.bars.set_rows(rows)
        self.note.setText("\n".join(notes))
        self.bars.setAccessibleDescription(self.note.text())
        self._empty.set_text("\n".join(notes))
        self.stack.setCurrentIndex(1 if rows else 0)

    def text(self) -> str:
        """The rows as text, with a tab between name and value."""
        return "\n".join([*(f"{row.label}\t{row.text}" for row in self.bars.rows()), self.note.text()])
