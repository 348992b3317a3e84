"""SideBySide: two sources with the lines that belong together at the same height."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import QSplitter, QTextEdit, QWidget

from widgets import theme
from widgets.code_view.view import CodeView
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

WEAK, STRONG = 0.14, 0.4  # shares of a colour behind a line, and behind what differs in it


@dataclass(frozen=True)
class SideLine:
    """A line of one side: its number, 0 for none; its text; ``mark`` is "" or the token of its colour, and
    ``spans`` the characters that differ. A ``heading`` names a file. ``label`` is shown in place of the
    number."""

    number: int
    text: str
    mark: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    heading: bool = False
    label: str = ""


class MarkedText(CodeView):
    """A text whose line numbers are given and whose lines are coloured; ``stepped`` carries 1 for F7 and -1
    for Shift+F7."""

    stepped = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._lines: Sequence[SideLine] = ()
        super().__init__(parent)

    def set_lines(self, lines: Sequence[SideLine]) -> None:
        """Show other lines."""
        self._lines = lines
        # A newline at the end would be taken for that of a file.
        self.set_code("\n".join(line.text for line in lines) + "\n")

    def number_text(self, line: int) -> str:
        shown = self._lines[line - 1] if line <= len(self._lines) else SideLine(0, "")
        return shown.label or (str(shown.number) if shown.number else "")

    def _show_marks(self) -> None:
        tokens, selections = theme.current(), []

        def select(start: QTextCursor, length: int, color: QColor, whole: bool, bold: bool = False) -> None:
            selection = QTextEdit.ExtraSelection()
            selection.format.setBackground(color)
            if bold:
                selection.format.setFontWeight(700)
            if whole:
                selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            start.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, length)
            selection.cursor = start
            selections.append(selection)

        block = self.document().firstBlock()
        for line in self._lines:
            if line.heading:
                select(QTextCursor(block), 0, QColor(tokens.line), True)
            elif line.mark:
                color = getattr(tokens, line.mark)
                select(QTextCursor(block), 0, theme.mix(tokens.code, color, WEAK), True)
                for begin, end in line.spans:
                    cursor = QTextCursor(block)
                    cursor.setPosition(block.position() + begin)
                    select(cursor, end - begin, theme.mix(tokens.code, color, STRONG), False)
            block = block.next()
        self.setExtraSelections(selections)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F7:
            self.stepped.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)


class SideBySide(Retranslated, QWidget):
    """Both sides have as many lines and scroll together. F7 goes to the next place that differs, Shift+F7 to
    the one before; ``moved`` carries its number, from 0."""

    moved = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.left, self.right = MarkedText(), MarkedText()
        self._places: list[int] = []
        self._at = -1
        split = QSplitter(Qt.Orientation.Horizontal)
        for side, other in ((self.left, self.right), (self.right, self.left)):
            split.addWidget(side)
            side.stepped.connect(self.step)
            for bar, follows in (
                (side.verticalScrollBar(), other.verticalScrollBar()),
                (side.horizontalScrollBar(), other.horizontalScrollBar()),
            ):
                bar.valueChanged.connect(follows.setValue)
        split.setChildrenCollapsible(False)
        vertical(self, 0, spacing=None).addWidget(split)
        self.retranslate()

    def set_lines(self, left: Sequence[SideLine], right: Sequence[SideLine]) -> None:
        """Show two sources. Raises ValueError where one has more lines than the other."""
        if len(left) != len(right):
            raise ValueError(f"SideBySide: as many lines on both sides are needed: {len(left)}, {len(right)}")
        differs = [bool(one.mark or other.mark) for one, other in zip(left, right, strict=True)]
        self._places = [
            place for place, each in enumerate(differs) if each and not (place and differs[place - 1])
        ]
        self._at = -1
        self.left.set_lines(left)
        self.right.set_lines(right)

    @property
    def places(self) -> int:
        """How many places differ: runs of lines."""
        return len(self._places)

    def step(self, by: int) -> None:
        """Go to the next place that differs (1), or the one before (-1); after the last comes the first."""
        if not self._places:
            return
        start = self._at if self._at >= 0 else -1 if by > 0 else 0
        self._at = (start + by) % len(self._places)
        for side in (self.left, self.right):
            side.show_line(self._places[self._at] + 1)
            side.centerCursor()
        self.moved.emit(self._at)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.left.setAccessibleName(self.tr("Source on the left"))
        self.right.setAccessibleName(self.tr("Source on the right"))
