"""The check of a saved model, in the dock next to Predict: how far it is, and its result in one line."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from studio.windows.controls import ValueLabel
from widgets import theme
from widgets.labels import section
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

_STEPS = 100


class CheckPanel(Retranslated, QWidget):
    """Hidden while there is nothing to say; ``cancel_requested`` asks to end the check."""

    cancel_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._title, self.words = section(), ValueLabel()
        self.bar, self.cancel_button = QProgressBar(), QPushButton()
        self.bar.setTextVisible(False)
        self.cancel_button.clicked.connect(self.cancel_requested)
        layout = vertical(self, (0, theme.SPACE_XS, 0, 0))
        for widget in (self._title, self.bar, self.words, self.cancel_button):
            layout.addWidget(widget)
        self.show_state(False, None, "")
        self.retranslate()

    def show_state(self, running: bool, progress: float | None, words: str) -> None:
        """How far a check is (0 to 1, None where it is not known), and the step or the result."""
        self.bar.setRange(0, 0 if progress is None else _STEPS)
        self.bar.setValue(round(_STEPS * (progress or 0.0)))
        self.words.set_value(words)
        for widget in (self.bar, self.cancel_button):
            widget.setVisible(running)
        self.words.setVisible(bool(words))
        self.setVisible(running or bool(words))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._title.setText(self.tr("Check"))
        self.bar.setAccessibleName(self.tr("Progress of the check"))
        self.cancel_button.setText(self.tr("Cancel"))
