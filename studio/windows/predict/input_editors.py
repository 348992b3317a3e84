"""How the inputs of a model are given: a pad for an image, a table for numbers, a line for neither."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from resources.words import shown
from studio.windows.controls import HighAsTexts
from widgets import theme
from widgets.digit_pad import DigitPad
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.number_table import NumberTable
from widgets.retranslated import Retranslated


class SquareFrame(QWidget):
    """Room for a square widget. Without this its height would follow its width and push the page over the
    window's edge.

    Args:
        step: the side is a multiple of so many pixels, for an image of as many.
    """

    def __init__(
        self, square: QWidget, wanted: QSize, least: QSize, centred: bool = True, step: int = 1
    ) -> None:
        super().__init__()
        self._square, self._wanted, self._centred, self._step = square, wanted, centred, step
        square.setParent(self)
        self.setMinimumSize(least)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_step(self, step: int) -> None:
        """Another number of pixels that the side is a multiple of."""
        self._step = step
        self._place()

    def sizeHint(self) -> QSize:
        return self._wanted

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def _place(self) -> None:
        side = min(self.width(), self.height())
        side -= side % self._step if side > self._step else 0
        left, top = (self.width() - side) // 2, (self.height() - side) // 2
        self._square.setGeometry(left if self._centred else 0, top if self._centred else 0, side, side)


class ImageInput(Retranslated, QWidget):
    """A pad with its tools: draw, or open, drop or paste an image."""

    open_requested = Signal()

    def __init__(self, digit: bool) -> None:
        super().__init__()
        self._digit = digit
        self.pad = DigitPad()
        self.clear_button, self.undo_button, self.image_button = QPushButton(), QPushButton(), QPushButton()
        set_icon(self.clear_button, "clear")
        set_icon(self.undo_button, "undo")
        set_icon(self.image_button, "image")
        tools = QWidget()
        row = FlowLayout(tools, theme.SPACE_S, theme.SPACE_S)
        for button in (self.clear_button, self.undo_button, self.image_button):
            row.addWidget(button)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addWidget(SquareFrame(self.pad, QSize(320, 320), QSize(140, 140)), 1)
        layout.addWidget(tools)
        self.clear_button.clicked.connect(self.pad.clear)
        self.undo_button.clicked.connect(self.pad.undo)
        self.image_button.clicked.connect(self.open_requested)
        self.retranslate()
        self.show_state()

    def show_state(self) -> None:
        """Offer what can be done with what is on the pad."""
        self.undo_button.setEnabled(self.pad.can_undo())
        self.clear_button.setEnabled(not self.pad.is_empty())

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.clear_button.setText(self.tr("Clear"))
        self.undo_button.setText(self.tr("Undo"))
        self.image_button.setText(self.tr("Image…"))
        self.image_button.setToolTip(self.tr("Open an image; it can also be dropped on the pad, or pasted"))
        if not self._digit:
            self.pad.set_hint(self.tr("Draw here, or drop or paste\nan image"))


class ValuesInput(QWidget):
    """An editor of values with its tools: paste them, take them from a file, or empty the editor."""

    open_requested = Signal()
    clear_requested = Signal()
    text_given = Signal(str)

    def __init__(self, editor: QWidget) -> None:
        super().__init__()
        self.problem, self._problem = mute(wrap=True), ""
        self.problem.setProperty("role", "bad")
        self.paste_button, self.file_button, self.clear_button = QPushButton(), QPushButton(), QPushButton()
        set_icon(self.paste_button, "copy")
        set_icon(self.file_button, "table")
        set_icon(self.clear_button, "clear")
        tools = QWidget()
        flow = FlowLayout(tools, theme.SPACE_S)
        for button in (self.paste_button, self.file_button, self.clear_button):
            flow.addWidget(button)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addWidget(editor, 1)
        layout.addWidget(self.problem)
        layout.addWidget(tools)
        self.paste_button.clicked.connect(lambda: self.text_given.emit(QGuiApplication.clipboard().text()))
        self.file_button.clicked.connect(self.open_requested)
        self.clear_button.clicked.connect(self.clear_requested)
        self.show_problem("")

    def show_problem(self, text: str) -> None:
        """Why what was typed, pasted or read is not taken; empty for none."""
        self._problem = text
        self.say_problem()
        self.problem.setVisible(bool(text))

    def say_problem(self) -> None:
        """Show the problem in the language that holds now."""
        self.problem.setText(shown(self._problem))


class NumbersInput(Retranslated, ValuesInput):
    """A table with its tools: type, paste, or take a row of a CSV file, or a whole ``sequence``."""

    def __init__(self, sequence: bool = False) -> None:
        table = NumberTable()
        super().__init__(table)
        self.table, self._sequence = table, sequence
        self.table.text_pasted.connect(self.text_given)
        self.retranslate()

    def show_values(self, values: NDArray[Any]) -> None:
        """Show an array in the table, and no problem."""
        self.table.set_values(values)
        self.show_problem("")

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.paste_button.setText(self.tr("Paste"))
        self.paste_button.setToolTip(self.tr("Paste numbers separated by commas, tabs or spaces"))
        if self._sequence:
            self.file_button.setText(self.tr("Open…"))
            self.file_button.setToolTip(
                self.tr("Read a sequence of a CSV, NPZ or NPY file, a step in each row")
            )
        else:
            self.file_button.setText(self.tr("CSV row…"))
            self.file_button.setToolTip(self.tr("Read the first rows of a CSV file"))
        self.say_problem()
        self.clear_button.setText(self.tr("Zeros"))


class UnsupportedInput(HighAsTexts, QWidget):
    """Says why an input can't be given here."""

    def __init__(self, why_not: str) -> None:
        super().__init__()
        self.line = mute(why_not, wrap=True)
        layout = vertical(self, 0, spacing=None)
        layout.addWidget(self.line)
        layout.addStretch(1)
