"""The list of the project's corrections: each can be taken back, and a run be started with them."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QPushButton, QWidget

from studio.windows.controls import Stack
from widgets import theme
from widgets.cards import EmptyState
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated


class CorrectionsDialog(Retranslated, QDialog):
    """``taken_back`` carries the number of a correction; ``train_requested`` wants a run with all of them."""

    taken_back = Signal(int)
    train_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.list = QListWidget()
        self._none, self._help = EmptyState(""), mute(wrap=True)
        self._stack = Stack(self._none, self.list)
        self.undo, self.train = QPushButton(), QPushButton()
        self.train.setProperty("role", "primary")
        buttons = QHBoxLayout()
        buttons.addWidget(self.undo)
        buttons.addStretch(1)
        buttons.addWidget(self.train)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(self._help)
        layout.addWidget(self._stack, 1)
        layout.addLayout(buttons)
        self.undo.clicked.connect(lambda: self.taken_back.emit(self.list.currentRow()))
        self.train.clicked.connect(self.train_requested)
        self.list.currentRowChanged.connect(lambda row: self.undo.setEnabled(row >= 0))
        for button in (self.undo, self.train):
            button.setAutoDefault(False)
        self.retranslate()
        self.set_rows([])
        self.resize(520, 420)

    def set_rows(self, rows: list[str]) -> None:
        """Show the corrections in words, in the order they were made."""
        row = min(max(self.list.currentRow(), 0), len(rows) - 1)
        self.list.clear()
        self.list.addItems(rows)
        self.list.setCurrentRow(row)
        self._stack.setCurrentWidget(self.list if rows else self._none)
        self.undo.setEnabled(bool(rows))

    def set_why_not(self, reason: str) -> None:
        """Why no run can be started with them now; empty where one can."""
        self.train.setEnabled(not reason)
        self.train.setToolTip(reason or self.tr("Start a run with the settings of the selected run"))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.setWindowTitle(tr("Corrections"))
        self.list.setAccessibleName(tr("Corrections"))
        self._help.setText(
            tr(
                "They apply to training and test images and are saved with the project; the data "
                "itself is never changed."
            )
        )
        self._none.set_text(
            tr(
                "No corrections yet: open a cell of the matrix to relabel or exclude images, or select one "
                "of the largest errors to correct its number."
            )
        )
        self.undo.setText(tr("Undo"))
        self.train.setText(tr("Train again with corrections"))
