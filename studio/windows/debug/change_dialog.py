"""The dialog that changes a value: one number, all of them, or by a factor."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QDialogButtonBox, QLabel, QLineEdit, QRadioButton, QWidget

from studio.windows.controls import ValueLabel
from studio.windows.dialogs import FittingDialog
from widgets import theme
from widgets.labels import mute
from widgets.layouts import grid, vertical

HOWS = ("number", "fill", "scale")


class ChangeDialog(FittingDialog):
    """``chosen`` carries how, the text of the number, and the index (empty for all elements)."""

    chosen = Signal(str, str, object)

    def __init__(self, parent: QWidget, name: str, shape: tuple[int, ...], dtype: str) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Change value"))
        self._shape = shape
        sizes = ", ".join(str(size) for size in shape)
        titles = (self.tr("Set one number"), self.tr("Fill with a number"), self.tr("Multiply by a factor"))
        self.ways, self._group = {}, QButtonGroup(self)
        for how, title in zip(HOWS, titles, strict=True):
            self.ways[how] = QRadioButton(title)
            self._group.addButton(self.ways[how])
        self.value, self.index = QLineEdit("0"), QLineEdit(", ".join("0" for _ in shape))
        value_label, self._index_label = QLabel(self.tr("Number")), QLabel(self.tr("Index"))
        value_label.setBuddy(self.value)
        self._index_label.setBuddy(self.index)
        self.value.setAccessibleName(value_label.text())
        self.index.setAccessibleName(self._index_label.text())
        self.value.setToolTip(self.tr("nan, inf and -inf are numbers, too"))
        self._problem = mute(wrap=True)
        self._problem.hide()
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.button(QDialogButtonBox.StandardButton.Ok).setText(self.tr("Change"))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        fields = grid(None, 0)
        fields.addWidget(value_label, 0, 0)
        fields.addWidget(self.value, 0, 1)
        fields.addWidget(self._index_label, 1, 0)
        fields.addWidget(self.index, 1, 1)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_S)
        layout.addWidget(ValueLabel(f"{name}  [{sizes}] {dtype}", mono=True))
        for button in self.ways.values():
            layout.addWidget(button)
            button.toggled.connect(lambda _: self._show_fields())
        layout.addLayout(fields)
        layout.addWidget(self._problem)
        layout.addWidget(mute(self.tr("Operators that read the value run again."), wrap=True))
        layout.addWidget(buttons)
        self.ways["fill"].setChecked(True)
        self.value.selectAll()
        self.value.setFocus()
        self.setMinimumWidth(360)

    def how(self) -> str:
        """The way that is chosen."""
        return next(how for how in HOWS if self.ways[how].isChecked())

    def problem(self) -> str:
        """Why a field is invalid; empty where both are valid."""
        return "" if self._problem.isHidden() else self._problem.text()

    def _show_fields(self) -> None:
        one = self.ways["number"].isChecked() and bool(self._shape)
        self._index_label.setVisible(one)
        self.index.setVisible(one)

    def accept(self) -> None:
        """Hand the change on, unless a field is invalid."""
        how, text = self.how(), self.value.text().strip()
        index: tuple[int, ...] = ()
        problem = ""
        try:
            complex(text)
        except ValueError:
            problem = self.tr("Not a number: \u201c{0}\u201d").format(text)
        if how == "number" and not problem:
            try:
                index = tuple(int(part) for part in self.index.text().replace(",", " ").split())
                inside = all(0 <= at < size for at, size in zip(index, self._shape, strict=True))
            except ValueError:
                inside = False
            if not inside:
                shape = ", ".join(str(size) for size in self._shape)
                words = self.tr("No index \u201c{0}\u201d in the shape [{1}]")
                problem = words.format(self.index.text(), shape)
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        if not problem:
            self.chosen.emit(how, text, index)
            super().accept()
