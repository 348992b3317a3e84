"""One row of a table as a form: a field for each column that the model takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from studio.windows.controls import Scroll
from studio.windows.predict.input_editors import ValuesInput
from widgets import theme
from widgets.layouts import vertical
from widgets.param_form.fields import Field
from widgets.param_form.form import ParamForm
from widgets.retranslated import Retranslated


class RowInput(Retranslated, ValuesInput):
    """A form with the tools of a table: paste a row, or take one of a CSV file.

    ``edited`` reports that a field holds another valid value, or that one became wrong.
    """

    edited = Signal()

    def __init__(self) -> None:
        content = QWidget()
        super().__init__(Scroll(content))
        self.form = ParamForm(())
        self._holder = vertical(content, (0, 0, theme.SPACE_S, 0), spacing=None)
        self._holder.addWidget(self.form)
        self._holder.addStretch(1)
        self.retranslate()

    def set_fields(self, fields: Sequence[Field]) -> None:
        """Another form with these fields."""
        self._holder.removeWidget(self.form)
        self.form.hide()
        self.form.deleteLater()
        self.form = ParamForm(fields)
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

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.paste_button.setText(self.tr("Paste"))
        self.paste_button.setToolTip(self.tr("Paste a row of a table, with its header or without"))
        self.file_button.setText(self.tr("Load row…"))
        self.file_button.setToolTip(self.tr("Read a row of a CSV file; drop a file to predict all its rows"))
        self.say_problem()
        self.clear_button.setText(self.tr("Clear"))
        self.clear_button.setToolTip(self.tr("Empty all fields; missing numbers are filled as in training"))
