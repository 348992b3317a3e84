"""One row of a table as a form: a field for each column that the model takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from studio.windows.controls import Scroll
from widgets import theme
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.param_form.fields import Field
from widgets.param_form.form import ParamForm
from widgets.retranslated import Retranslated


class RowInput(Retranslated, QWidget):
    """A form with the tools of a table: paste a row, or take one of a CSV file.

    ``edited`` reports that a field holds another valid value, or that one became wrong.
    """

    edited = Signal()
    open_requested = Signal()
    clear_requested = Signal()
    text_given = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.form = ParamForm(())
        self._holder = vertical(None, (0, 0, theme.SPACE_S, 0), spacing=None)
        self._holder.addWidget(self.form)
        self._holder.addStretch(1)
        content = QWidget()
        content.setLayout(self._holder)
        self.problem = mute(wrap=True)
        self.problem.setProperty("role", "bad")
        self.paste_button, self.file_button, self.clear_button = QPushButton(), QPushButton(), QPushButton()
        set_icon(self.paste_button, "copy")
        set_icon(self.file_button, "table")
        set_icon(self.clear_button, "clear")
        tools = horizontal(None, 0)
        for button in (self.paste_button, self.file_button, self.clear_button):
            tools.addWidget(button)
        tools.addStretch(1)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addWidget(Scroll(content), 1)
        layout.addWidget(self.problem)
        layout.addLayout(tools)
        self.paste_button.clicked.connect(lambda: self.text_given.emit(QGuiApplication.clipboard().text()))
        self.file_button.clicked.connect(self.open_requested)
        self.clear_button.clicked.connect(self.clear_requested)
        self.show_problem("")
        self.retranslate()

    def set_fields(self, fields: Sequence[Field]) -> None:
        """Another form with these fields."""
        self._holder.removeWidget(self.form)
        self.form.hide()
        self.form.deleteLater()
        self.form = ParamForm(fields)
        for each in fields:
            self.form.control(each.key).setAcceptDrops(False)  # a line would take a file's path as text
        self.form.changed.connect(self.edited)
        self.form.errors_changed.connect(self.edited)
        self._holder.insertWidget(0, self.form)

    def show_row(self, values: Mapping[str, str | float | None]) -> None:
        """Show these values, of all fields, and no problem; ``edited`` is not emitted."""
        self.form.blockSignals(True)
        for key, value in values.items():
            self.form.drop_entry(key)
            self.form.set_value(key, value)
        self.form.blockSignals(False)
        self.show_problem("")

    def show_problem(self, text: str) -> None:
        """Why what was pasted or read can't be taken; empty for none."""
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.paste_button.setText(self.tr("Paste"))
        self.paste_button.setToolTip(self.tr("Paste a row of a table, with its header or without"))
        self.file_button.setText(self.tr("Load row..."))
        self.file_button.setToolTip(self.tr("Read a row of a CSV file; drop a file to predict all its rows"))
        self.clear_button.setText(self.tr("Clear"))
        self.clear_button.setToolTip(self.tr("Empty all fields; missing numbers are filled as in training"))
