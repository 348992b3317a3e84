"""A run's name, colour, tags and note, edited together."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from studio.session.runs.run_notes import LONGEST_NAME, LONGEST_NOTE, RunNotes, parse_tags
from studio.windows.dialogs import FittingDialog
from widgets import theme
from widgets.color_choice import ColorChoice
from widgets.layouts import form


class RunNotesDialog(FittingDialog):
    """``described`` carries name, tags, note and colour when they are accepted.

    Args:
        title: the name now.
        default: the colour without a choice.
    """

    described = Signal(str, tuple, str, object)

    def __init__(self, parent: QWidget, title: str, notes: RunNotes, default: int | str = 0) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About {0}").format(title))
        self.name, self.tags, self.note = (
            QLineEdit(notes.name),
            QLineEdit(", ".join(notes.tags)),
            QPlainTextEdit(),
        )
        self.name.setMaxLength(LONGEST_NAME)
        self.name.setPlaceholderText(title)
        self.tags.setPlaceholderText(self.tr("baseline, wide"))
        self.note.setPlainText(notes.note)
        self.note.setTabChangesFocus(True)
        self.note.setMaximumHeight(8 * self.note.fontMetrics().lineSpacing())
        self.color = ColorChoice(default)
        self.color.set_value(notes.color)
        self.wrong = QLabel()
        self.wrong.setProperty("role", "bad")
        self.wrong.setWordWrap(True)
        self.wrong.hide()
        buttons = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(buttons.Save | buttons.Cancel)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        rows = form(self, theme.SPACE_L)
        for label, field in (
            (self.tr("&Name"), self.name),
            (self.tr("&Colour"), self.color),
            (self.tr("&Tags"), self.tags),
            (self.tr("N&ote"), self.note),
        ):
            rows.addRow(label, field)
            field.setAccessibleName(label.replace("&", ""))
        rows.addRow(self.wrong)
        rows.addRow(self.buttons)
        self.resize(420, self.sizeHint().height())
        self.name.selectAll()

    def _accept(self) -> None:
        try:
            tags = parse_tags(self.tags.text())
            if len(self.note.toPlainText()) > LONGEST_NOTE:
                raise ValueError(self.tr("note: too long; at most {0} characters").format(LONGEST_NOTE))
        except ValueError as error:
            self.wrong.setText(str(error))
            self.wrong.show()
            return
        self.described.emit(self.name.text(), tags, self.note.toPlainText(), self.color.value())
        self.accept()
