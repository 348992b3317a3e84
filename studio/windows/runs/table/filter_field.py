"""FilterField: a filter with completion of column names, and the reason why it can't be used."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget

from widgets.cards import set_role
from widgets.elided import ElidedLabel
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

_WORD = re.compile(r"[A-Za-z_][\w.\-]*$")
_AFTER_OPERATOR = re.compile(r"(?:[<>=~]|\bin\s*\([^)]*)\s*$")


class FilterField(Retranslated, QWidget):
    """``changed`` carries the text after each change by the user. The owner puts ``reason`` below the field:
    a line that comes and goes must not move what is next to it."""

    changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box, self.reason = QLineEdit(), ElidedLabel()
        self.box.setClearButtonEnabled(True)
        self.box.textChanged.connect(self.changed)
        self.box.textEdited.connect(lambda _: self._complete())
        set_role(self.reason, "bad")
        self.reason.set_leads(True)
        self.reason.clicked.connect(self._show_position)
        self.reason.hide()
        self._names = QStringListModel(self)
        self.completer = QCompleter(self._names, self)
        self.completer.setWidget(self.box)
        self.completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.completer.activated.connect(self._take)
        self._position, self._length = 0, 0
        vertical(self, 0).addWidget(self.box)
        self.retranslate()

    def set_names(self, names: Sequence[str]) -> None:
        """The names that are completed."""
        if list(names) != self._names.stringList():
            self._names.setStringList(list(names))

    def set_text(self, text: str) -> None:
        """Show a filter, without a signal."""
        if text != self.box.text():
            blocker = QSignalBlocker(self)  # the box shows its button for clearing by its own signal
            self.box.setText(text)
            blocker.unblock()

    def show_error(self, message: str, position: int = 0, length: int = 0) -> None:
        """Turn red and show the reason; an empty message is for a valid filter."""
        self._position, self._length = position, length
        if message == self.reason.text():
            return
        self.reason.setText(message)
        self.reason.setAccessibleName(message)
        self.reason.setVisible(bool(message))
        self.box.setProperty("invalid", bool(message))
        self.box.setAccessibleDescription(message or self.box.toolTip())
        self.box.style().unpolish(self.box)
        self.box.style().polish(self.box)

    def error(self) -> str:
        """The reason that is shown; empty for a valid filter."""
        return "" if self.reason.isHidden() else self.reason.text()

    def _show_position(self) -> None:
        """Select the part of the filter that is wrong."""
        self.box.setFocus()
        self.box.setSelection(min(self._position, len(self.box.text())), self._length)

    def _complete(self) -> None:
        before = self.box.text()[: self.box.cursorPosition()]
        word = _WORD.search(before)
        if word is None or _AFTER_OPERATOR.search(before[: word.start()]):
            self.completer.popup().hide()
            return
        self.completer.setCompletionPrefix(word[0])
        only = self.completer.completionCount() == 1 and self.completer.currentCompletion() == word[0]
        if not self.completer.completionCount() or only:
            self.completer.popup().hide()
            return
        place = self.box.cursorRect()
        place.setWidth(220)
        self.completer.complete(place)

    def _take(self, name: str) -> None:
        text, at = self.box.text(), self.box.cursorPosition()
        word = _WORD.search(text[:at])
        begin = at if word is None else word.start()
        self.box.setText(f"{text[:begin]}{name}{text[at:]}")
        self.box.setCursorPosition(begin + len(name))

    def retranslate(self) -> None:
        """Set all texts, in the current language."""
        self.box.setPlaceholderText(self.tr("Filter, e.g. lr < 0.01 and accuracy > 90 %"))
        self.box.setAccessibleName(self.tr("Filter of the table"))
        self.box.setToolTip(
            self.tr(
                "Columns with < <= > >= = != ~ (contains) or in (a, b); and, or, not and parentheses; "
                "other words are looked for in names, tags and notes"
            )
        )
