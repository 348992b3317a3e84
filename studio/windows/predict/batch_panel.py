"""A folder or a table to CSV, in the dock next to Predict: the buttons, the progress, what came out."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from widgets import theme
from widgets.icons import set_icon
from widgets.labels import mute, section
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated


class BatchPanel(Retranslated, QWidget):
    """``folder_requested`` and ``table_requested`` ask for what shall be predicted."""

    folder_requested = Signal()
    table_requested = Signal()
    cancel_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._title = section()
        self.folder_button, self.table_button, self.cancel_button = (
            QPushButton(),
            QPushButton(),
            QPushButton(),
        )
        set_icon(self.folder_button, "image")
        set_icon(self.table_button, "table")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.words = mute(wrap=True)
        row = horizontal(None, 0)
        row.addWidget(self.folder_button, 1)
        row.addWidget(self.table_button, 1)
        layout = vertical(self, (0, theme.SPACE_XS, 0, 0))
        layout.addWidget(self._title)
        layout.addLayout(row)
        layout.addWidget(self.bar)
        layout.addWidget(self.words)
        layout.addWidget(self.cancel_button)
        self.folder_button.clicked.connect(self.folder_requested)
        self.table_button.clicked.connect(self.table_requested)
        self.cancel_button.clicked.connect(self.cancel_requested)
        self.show_progress(False, 0, 0, "")
        self.retranslate()

    def show_progress(self, running: bool, done: int, total: int, words: str) -> None:
        """How far it is, and in words what came out."""
        for button in (self.folder_button, self.table_button):
            button.setEnabled(not running)
        self.bar.setVisible(running)
        self.cancel_button.setVisible(running)
        self.bar.setRange(0, total)  # without a total it only moves
        self.bar.setValue(done)
        self.words.setText(words)
        self.words.setVisible(bool(words))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._title.setText(self.tr("Many at once"))
        self.folder_button.setText(self.tr("Folder…"))
        self.folder_button.setToolTip(self.tr("Predict all images in a folder into a CSV file"))
        self.table_button.setText(self.tr("Table…"))
        self.table_button.setToolTip(self.tr("Predict each row of a CSV, NPZ or NPY file into a CSV file"))
        self.cancel_button.setText(self.tr("Cancel"))
        self.bar.setAccessibleName(self.tr("Predictions made"))
