"""InputRows: name, shape and dtype of each input of a model that takes several, a row for each."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QWidget

from resources.settings.export import DTYPES, EXPORT_SETTINGS
from resources.settings.model_inputs import ModelInputRow, parse_inputs, write_inputs, write_shape
from widgets import theme
from widgets.labels import mute
from widgets.layouts import grid
from widgets.retranslated import Retranslated

COLUMNS = ("input_name", "input_shape", "dtype")  # the settings of one input, whose words these have


class InputRows(Retranslated, QWidget):
    """``changed`` carries the inputs as ``parse_inputs`` reads them, "" for those of the run's data;
    ``validity_changed`` comes when ``problem()`` has another text."""

    changed = Signal(str)
    validity_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[QLineEdit, QLineEdit, QComboBox]] = []
        self._usual: tuple[ModelInputRow, ...] = ()
        self._text = ""
        self._titles = tuple(mute() for _ in COLUMNS)
        self._message = QLabel()
        self._message.setProperty("role", "bad")
        self._message.setFont(theme.font(theme.SECTION_PX))
        self._message.setWordWrap(True)
        self._message.setVisible(False)
        self._grid = grid(self, 0, theme.SPACE_S)
        for column, (title, stretch) in enumerate(zip(self._titles, (2, 3, 0), strict=True)):
            self._grid.addWidget(title, 0, column)
            self._grid.setColumnStretch(column, stretch)
        self.retranslate()

    def problem(self) -> str:
        """What is wrong with an input; empty where nothing is."""
        return self._message.text()

    def set_inputs(self, usual: Sequence[ModelInputRow], text: str) -> None:
        """Show the inputs of a run, or as ``text`` names them."""
        usual = tuple(usual)
        if usual != self._usual:
            self._usual = usual
            self._set_count(len(usual))
        elif text == self._text:
            return  # an invalid value stays in its field
        self._text = text
        try:
            shown = parse_inputs(text)
        except ValueError:
            shown = ()
        for (name, shape, dtype), row in zip(
            self.rows, shown if len(shown) == len(usual) else usual, strict=True
        ):
            name.setText(row.name)
            shape.setText(write_shape(row.shape).replace(",", ", "))
            dtype.setCurrentText(row.dtype)
        self._mark("")

    def _set_count(self, count: int) -> None:
        for row in self.rows:
            for part in row:
                self._grid.removeWidget(part)
                part.hide()
                part.deleteLater()
        self._grid.removeWidget(self._message)
        self.rows = []
        for line in range(1, count + 1):
            name, shape, dtype = QLineEdit(), QLineEdit(), QComboBox()
            dtype.addItems(list(DTYPES))
            name.textEdited.connect(self._edited)
            shape.textEdited.connect(self._edited)
            dtype.activated.connect(self._edited)
            for column, part in enumerate((name, shape, dtype)):
                self._grid.addWidget(part, line, column)
            self.rows.append((name, shape, dtype))
        self._grid.addWidget(self._message, count + 1, 0, 1, len(COLUMNS))
        self._name_rows()

    def _edited(self) -> None:
        text = "; ".join(
            f"{name.text().strip()}: {shape.text().strip('[]() ')} {dtype.currentText()}"
            for name, shape, dtype in self.rows
        )
        try:
            if any(";" in part.text() or ":" in part.text() for row in self.rows for part in row[:2]):
                raise ValueError(self.tr("A name or a shape can't have : or ;"))
            rows = parse_inputs(text)
        except ValueError as error:
            self._mark(str(error))
            return
        self._mark("")
        self._text = "" if rows == self._usual else write_inputs(rows)
        self.changed.emit(self._text)

    def _mark(self, problem: str) -> None:
        """Show what is wrong, and mark the fields that are."""
        for name, shape, dtype in self.rows:
            for part, text in (
                (name, f"{name.text().strip()}: None"),
                (shape, f"x: {shape.text().strip('[]() ')} {dtype.currentText()}"),
            ):
                _set_invalid(part, bool(problem) and not _is_valid(text))
        if problem != self._message.text():
            self._message.setText(problem)
            self._message.setVisible(bool(problem))
            self.validity_changed.emit()

    def _name_rows(self) -> None:
        words = [title.text() for title in self._titles]
        for place, (row, usual) in enumerate(zip(self.rows, self._usual, strict=True)):
            for part, word, setting in zip(row, words, COLUMNS, strict=True):
                part.setAccessibleName(self.tr("{0} of input {1}").format(word, place + 1))
                part.setToolTip(
                    self.tr("{0}: {1}").format(usual.text, self.tr(EXPORT_SETTINGS[setting].help))
                )

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        for title, words in zip(
            self._titles, (self.tr("Name"), self.tr("Shape"), self.tr("dtype")), strict=True
        ):
            title.setText(words)
        self._name_rows()


def _is_valid(text: str) -> bool:
    try:
        return len(parse_inputs(text)) == 1
    except ValueError:
        return False


def _set_invalid(part: QWidget, invalid: bool) -> None:
    if bool(part.property("invalid")) != invalid:
        part.setProperty("invalid", invalid)
        part.style().unpolish(part)
        part.style().polish(part)
