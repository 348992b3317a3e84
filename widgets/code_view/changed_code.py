"""ChangedCode: source to read in which lines that changed have a ground of another colour."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QTextCursor, QTextFormat
from PySide6.QtWidgets import QTextEdit, QWidget

from widgets import theme
from widgets.code_view.view import CodeView

WEAK = 0.14  # the share of the colour behind a line


class ChangedCode(CodeView):
    """A CodeView in which changed lines are coloured, below the marks."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._changed: tuple[int, ...] = ()
        super().__init__(parent)

    def set_changed(self, lines: Iterable[int]) -> None:
        """The lines that changed, by their numbers from 1."""
        self._changed = tuple(sorted(set(lines)))
        self._show_marks()

    def changed_lines(self) -> tuple[int, ...]:
        """The lines that changed."""
        return self._changed

    def _show_marks(self) -> None:
        super()._show_marks()
        tokens = theme.current()
        found = []
        for line in self._changed:
            mark = QTextEdit.ExtraSelection()
            mark.format.setBackground(theme.mix(tokens.code, tokens.ok, WEAK))
            mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            mark.cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
            found.append(mark)
        self.setExtraSelections([*found, *self.extraSelections()])
