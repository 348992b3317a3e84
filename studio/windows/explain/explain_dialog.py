"""ExplainDialog: why a model answers so to a sample of data."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QDialog, QWidget

from studio.windows.controls import Scroll
from studio.windows.explain.explain_panel import ExplainPanel
from widgets import theme
from widgets.labels import heading, mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated


class ExplainDialog(Retranslated, QDialog):
    """A window next to the page; Escape closes it, which emits ``closed``."""

    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.title, self.words, self.panel = heading(), mute(wrap=True), ExplainPanel()
        self.title.setWordWrap(True)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(self.title)
        layout.addWidget(self.words)
        layout.addWidget(Scroll(self.panel), 1)
        self.resize(680, 460)
        self.retranslate()

    def show_sample(self, title: str, words: str) -> None:
        """Which sample it is, and what the model answers to it."""
        self.title.setText(title)
        self.words.setText(words)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.closed.emit()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.setWindowTitle(self.tr("Why"))
