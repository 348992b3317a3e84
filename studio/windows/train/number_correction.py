"""The row that corrects the true number of one of the worst samples, and what was corrected."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from studio.windows.controls import ValueLabel
from widgets import theme
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated


class NumberCorrection(Retranslated, QWidget):
    """``corrected`` carries the text that was entered and confirmed, by the button or Return; ``dropped``,
    ``taken_back`` and ``corrections_requested`` are about the sample and the list of all corrections."""

    corrected = Signal(str)
    dropped = Signal()
    taken_back = Signal()
    corrections_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.field, self.said, self.problem = QLineEdit(), ValueLabel(), mute(wrap=True)
        self.problem.setProperty("role", "bad")
        self._true, self._unit = QLabel(), QLabel()
        self._true.setBuddy(self.field)
        self.correct, self.drop, self.undo, self.all = (QPushButton() for _ in range(4))
        entry = horizontal(None, 0, theme.SPACE_S)
        for widget, share in ((self._true, 0), (self.field, 1), (self._unit, 0), (self.correct, 0)):
            entry.addWidget(widget, share)
        buttons = QHBoxLayout()
        for button in (self.drop, self.undo, self.all):
            buttons.addWidget(button, 1)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addWidget(self.said)
        layout.addLayout(entry)
        layout.addWidget(self.problem)
        layout.addLayout(buttons)
        self.correct.clicked.connect(self._confirm)
        self.field.returnPressed.connect(self._confirm)
        self.field.textEdited.connect(lambda _: self.show_problem(""))
        self.drop.clicked.connect(self.dropped)
        self.undo.clicked.connect(self.taken_back)
        self.all.clicked.connect(self.corrections_requested)
        self.retranslate()
        self.show_sample("", "", "", False)

    def show_sample(self, value: str, unit: str, words: str, can_correct: bool) -> None:
        """Show the value that is offered and ``words`` about an existing correction, empty for none."""
        if not self.field.isModified():
            self.field.setText(value)
        self._unit.setText(unit)
        self._unit.setVisible(bool(unit))
        self.said.set_value(words)
        self.said.setVisible(bool(words))
        self.undo.setEnabled(bool(words))
        for widget in (self.field, self.correct, self.drop):
            widget.setEnabled(can_correct)

    def show_problem(self, words: str) -> None:
        """Show why the entry can't be used; empty hides it."""
        self.problem.setText(words)
        self.problem.setVisible(bool(words))

    def reset(self) -> None:
        """Discard the entry: another sample is shown, or it was used."""
        self.field.setModified(False)
        self.show_problem("")

    def _confirm(self) -> None:
        if self.correct.isEnabled():
            self.corrected.emit(self.field.text())

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self._true.setText(tr("It is"))
        self.field.setAccessibleName(tr("True value of the sample"))
        self.correct.setText(tr("Correct", "to correct"))
        self.correct.setToolTip(tr("Save this value for the sample in the project; the data stays unchanged"))
        self.drop.setText(tr("Exclude"))
        self.drop.setToolTip(tr("Exclude the sample from training in the project; the data stays unchanged"))
        self.undo.setText(tr("Undo"))
        self.undo.setToolTip(tr("Remove the correction of this sample"))
        self.all.setText(tr("All…"))
        self.all.setToolTip(tr("Show all corrections of the project"))
        self.all.setAccessibleName(tr("All corrections"))
