"""The editors of a form: a small widget for each kind of field, all with `value` and `set_value`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QToolButton,
    QWidget,
)

from widgets import theme
from widgets.color_choice import dot_icon
from widgets.elided import ElidedComboBox
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import horizontal
from widgets.param_form.fields import Field, Problem, Value, parse, write


class _EditorBase(QWidget):
    """What the editors share; `edited` says that value() may have changed."""

    edited = Signal()
    # What takes the focus and carries name, tip and error mark.
    control: QWidget

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        self.automatic: str | None = None  # what stands for None, where that is a value too
        self._layout = horizontal(self, 0, theme.SPACE_XS)

    def _take(self, control: QWidget) -> None:
        self.control = control
        self._layout.addWidget(control, 1)
        self.setFocusProxy(control)


class TextEditor(_EditorBase):
    """A line for int, float, text and path; arrow keys step integers, a path has a button to pick it."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self._line = QLineEdit()
        self._line.setFont(theme.font())
        self._line.setMinimumWidth(48 if field.unit else 64)
        self.set_placeholder(field.placeholder)
        self._take(self._line)
        self._line.textChanged.connect(self.edited)
        self._line.installEventFilter(self)
        self._unit = mute(field.unit)
        if field.unit:
            self._layout.addWidget(self._unit)
        self.browse: QToolButton | None = None
        if field.kind == "path":
            self.browse = QToolButton()
            set_icon(self.browse, "open")
            self.browse.clicked.connect(self._pick)
            self._layout.addWidget(self.browse)

    def value(self) -> Value | Problem:
        """The value as typed, or what is wrong with it."""
        if self.automatic is not None and not self._line.text().strip():
            return None
        return parse(self.field, self._line.text())

    def set_unit(self, text: str) -> None:
        """Change the unit behind the line."""
        self.field = replace(self.field, unit=text)
        self._unit.setText(text)

    def set_placeholder(self, text: str) -> None:
        """Change what the empty line shows."""
        self._placeholder = text
        self._line.setPlaceholderText(text if self.automatic is None else self.automatic)

    def set_automatic(self, words: str | None) -> None:
        """Let the empty line be None, and show ``words`` in it; None ends that."""
        self.automatic = words
        self.set_placeholder(self._placeholder)

    def set_value(self, value: Value) -> None:
        """Show a value, unless the text already says it (in the user's own way of writing)."""
        if self.value() != value or type(self.value()) is not type(value):
            self._line.setText(write(value, self.field.kind))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            # A line keeps these keys even where nothing was typed: then they are the window's.
            keys = QKeySequence.StandardKey
            if (event.matches(keys.Undo) and not self._line.isUndoAvailable()) or (
                event.matches(keys.Redo) and not self._line.isRedoAvailable()
            ):
                event.ignore()
                return True
        if self.field.kind == "int" and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            steps = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}
            value = self.value()
            if event.key() in steps and isinstance(value, int):
                stepped = value + steps[Qt.Key(event.key())]
                if self.field.minimum is not None:
                    stepped = max(stepped, int(self.field.minimum))
                if self.field.maximum is not None:
                    stepped = min(stepped, int(self.field.maximum))
                self.set_value(stepped)
                return True
        return False

    def _pick(self) -> None:
        title, here = self.field.label, self._line.text()
        if self.field.path == "folder":
            path = QFileDialog.getExistingDirectory(self, title, here)
        elif self.field.path == "file":
            path = QFileDialog.getOpenFileName(self, title, here)[0]
        else:
            path = QFileDialog.getSaveFileName(self, title, here)[0]
        if path:
            self._line.setText(path)


class ChoiceEditor(_EditorBase):
    """A box of choices."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self._box = ElidedComboBox()
        self._box.setMinimumContentsLength(6)
        self._box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._values: list[Value] = []
        self._colors: Mapping[Any, int | str] = {}
        self._take(self._box)
        self.set_choices(field.choices, {})
        self._box.currentIndexChanged.connect(self.edited)
        self._box.installEventFilter(self)
        theme.changed.connect(self._draw_dots)  # a run's colour differs between light and dark

    def set_choices(self, choices: tuple[tuple[Value, str], ...], reasons: Mapping[Any, str]) -> None:
        """Offer other choices; the chosen value stays where it is among them. Those with a reason are grey,
        and say it where the pointer rests and to readers of the screen."""
        old = self._box.currentIndex()
        chosen = self._values[old] if old >= 0 else None
        self._choices, self._reasons = choices, reasons
        if self.automatic is not None:
            choices = ((None, self.automatic), *choices)
        self._values = [value for value, _ in choices]
        self._box.blockSignals(True)
        self._box.clear()
        self._box.addItems([label for _, label in choices])
        model = self._box.model()
        for row, value in enumerate(self._values):
            if isinstance(model, QStandardItemModel) and value in reasons:
                item = model.item(row)
                item.setEnabled(False)
                item.setToolTip(reasons[value])
                item.setAccessibleDescription(reasons[value])
        if chosen in self._values:
            self._box.setCurrentIndex(self._values.index(chosen))
        self._box.blockSignals(False)

    def set_colors(self, colors: Mapping[Any, int | str]) -> None:
        """Show a dot in a run's colour before some choices."""
        self._colors = dict(colors)
        self._draw_dots()

    def _draw_dots(self) -> None:
        for row, value in enumerate(self._values):
            if value in self._colors:
                self._box.setItemIcon(row, dot_icon(self._colors[value], self.devicePixelRatioF()))

    def set_automatic(self, words: str | None) -> None:
        """Offer None first, called ``words``; None ends that."""
        if words != self.automatic:
            self.automatic = words
            self.set_choices(self._choices, self._reasons)

    def value(self) -> Value | Problem:
        """The chosen value; a box without choices has none."""
        index = self._box.currentIndex()
        return self._values[index] if index >= 0 else Problem("empty")

    def set_value(self, value: Value) -> None:
        """Choose a value. Raises ValueError where it is not among the choices."""
        if value not in self._values:
            raise ValueError(f"{self.field.key}: not one of the choices: {value!r}; there are {self._values}")
        self._box.setCurrentIndex(self._values.index(value))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The wheel scrolls the page; it changes a setting only where the user is at work on it.
        if event.type() == QEvent.Type.Wheel and not self._box.hasFocus():
            event.ignore()
            return True
        return False


class BoolEditor(_EditorBase):
    """A check box; it is never None."""

    def set_automatic(self, words: str | None) -> None:
        """Raises ValueError: it shows no words."""
        raise ValueError(f"{self.field.key}: a check box can't be left open")

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self._box = QCheckBox()
        self._take(self._box)
        self._box.toggled.connect(self.edited)

    def value(self) -> Value | Problem:
        """Whether the box is checked."""
        return self._box.isChecked()

    def set_value(self, value: Value) -> None:
        """Check the box or not."""
        self._box.setChecked(bool(value))


Editor = TextEditor | ChoiceEditor | BoolEditor


def make_editor(field: Field) -> Editor:
    """The editor for a field, showing its default."""
    editor: Editor
    if field.kind == "choice":
        editor = ChoiceEditor(field)
    elif field.kind == "bool":
        editor = BoolEditor(field)
    else:
        editor = TextEditor(field)
    editor.set_value(field.default)
    return editor
