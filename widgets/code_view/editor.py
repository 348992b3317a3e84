"""CodeEditor: an editor for source text, with notes next to each line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QWidget

from widgets import theme
from widgets.code_view import typing_keys
from widgets.code_view.view import CodeView

MARK = 4  # half the side of a problem's sign next to the line numbers
NOTE_GAP = 24
MOST_FOUND = 1000


@dataclass(frozen=True)
class Squiggle:
    """A problem at a place of the text. Lines count from 1, columns from 0; both columns 0: the whole line.

    ``warning`` is for what does not keep the text from running.
    """

    line: int
    message: str
    column: int = 0
    end: int = 0
    warning: bool = False


class CodeEditor(CodeView):
    """A `CodeView` to write in: Tab indents, Return keeps the indentation, Ctrl+/ comments.

    `caret_moved` carries the line of the caret when it changes; Ctrl+S emits `save_requested`.
    Only clicks on the line numbers emit `line_clicked`, because a click in the text places the caret.
    """

    caret_moved = Signal(int)
    save_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self._squiggles: tuple[Squiggle, ...] = ()
        self._notes: dict[int, str] = {}
        self._stale = False
        self._lit: tuple[int, ...] = ()
        self._found: tuple[QTextCursor, ...] = ()  # which follow changes of the text
        self._line = 1
        super().__init__(parent)
        self.setReadOnly(False)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextEditorInteraction)
        self.setUndoRedoEnabled(True)
        self.cursorPositionChanged.connect(self._caret_changed)

    # contents

    def load(self, text: str) -> None:
        """Load a text and start a new undo history."""
        self.setPlainText(text)
        self.document().setModified(False)
        self._forget()

    def replace_text(self, text: str) -> None:
        """Replace the text in a single undo step; the caret stays on its line."""
        line = self.textCursor().blockNumber()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.endEditBlock()
        self._forget()
        self.show_line(min(line, self.blockCount() - 1) + 1)

    def _forget(self) -> None:
        self._squiggles, self._notes, self._lit = (), {}, ()
        self._show_marks()
        self.viewport().update()

    def set_squiggles(self, squiggles: Iterable[Squiggle]) -> None:
        """Underline problems in waves; the strip of numbers has a sign for each, a tooltip says it."""
        self._squiggles = tuple(squiggles)
        self._show_marks()

    def squiggles(self) -> tuple[Squiggle, ...]:
        """The problems that are shown."""
        return self._squiggles

    def set_notes(self, notes: Mapping[int, str], stale: bool = False) -> None:
        """Quiet texts at the ends of lines; ``stale`` ones are of a text that has changed since."""
        self._notes, self._stale = dict(notes), stale
        self.viewport().update()

    def note(self, line: int) -> str:
        """The note at the end of a line; empty if it has none."""
        return self._notes.get(line, "")

    def set_found(self, places: Sequence[tuple[int, int]]) -> None:
        """Mark what a search found: start and end of each, in the whole text."""
        found = []
        for start, end in places[:MOST_FOUND]:
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            found.append(cursor)
        self._found = tuple(found)
        self._show_marks()

    def light_lines(self, lines: Iterable[int]) -> None:
        """Mark lines without moving the caret or the view, except where none of them is in view."""
        self._lit = tuple(sorted({line for line in lines if 1 <= line <= self.blockCount()}))
        self._show_marks()

    def lit_lines(self) -> tuple[int, ...]:
        """The lines that are lit."""
        return self._lit

    def caret_line(self) -> int:
        """The line of the caret."""
        return self.textCursor().blockNumber() + 1

    def _caret_changed(self) -> None:
        self._show_marks()
        line = self.caret_line()
        if line != self._line:
            self._line = line
            self.caret_moved.emit(line)

    # marks

    def _show_marks(self) -> None:
        selections = []
        tokens = theme.current()
        for line in dict.fromkeys((self.caret_line(), *self._lit)):
            mark = QTextEdit.ExtraSelection()
            lit = line in self._lit
            mark.format.setBackground(
                QColor(tokens.selection) if lit else theme.mix(tokens.code, tokens.mute, 0.12)
            )
            mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            mark.cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
            selections.append(mark)
        for place in self._found:
            found = QTextEdit.ExtraSelection()
            found.cursor = place
            found.format.setBackground(theme.mix(tokens.code, tokens.warn, 0.35))
            selections.append(found)
        for squiggle in self._squiggles:
            block = self.document().findBlockByNumber(squiggle.line - 1)
            if squiggle.line and block.isValid():
                wave = QTextEdit.ExtraSelection()
                wave.cursor = _range(block, squiggle)
                wave.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
                wave.format.setUnderlineColor(QColor(tokens.warn if squiggle.warning else tokens.bad))
                selections.append(wave)
        self.setExtraSelections(selections)
        words = "; ".join(
            self.tr("line {0}: {1}").format(each.line, each.message) for each in self._squiggles
        )
        self.setAccessibleDescription(words)
        self.update_gutter()

    def gutter_width(self) -> int:
        return super().gutter_width() + 2 * MARK + theme.SPACE_XS

    def paint_gutter(self, gutter: QWidget, area: QRect) -> None:
        """The numbers, with a round sign for an error and a triangle for a warning."""
        super().paint_gutter(gutter, area)
        painter = QPainter(gutter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for squiggle in self._squiggles:
            block = self.document().findBlockByNumber(squiggle.line - 1)
            if not squiggle.line or not block.isValid():
                continue
            place = self.blockBoundingGeometry(block).translated(self.contentOffset())
            middle = QPointF(theme.SPACE_XS + MARK, place.center().y())
            painter.setBrush(QColor(theme.current().warn if squiggle.warning else theme.current().bad))
            if squiggle.warning:
                corners = ((0, -MARK), (MARK, MARK), (-MARK, MARK))
                painter.drawPolygon(QPolygonF([middle + QPointF(x, y) for x, y in corners]))
            else:
                painter.drawEllipse(middle, MARK, MARK)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._notes:
            return
        tokens = theme.current()
        painter = QPainter(self.viewport())
        painter.setFont(theme.mono_font(theme.SECTION_PX))
        painter.setPen(QPen(QColor(tokens.disabled if self._stale else tokens.mute)))
        metrics = painter.fontMetrics()
        block = self.firstVisibleBlock()
        while block.isValid():
            place = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if place.top() > event.rect().bottom():
                break
            note = self._notes.get(block.blockNumber() + 1)
            if note and block.isVisible():
                left = place.left() + block.layout().lineAt(0).naturalTextWidth() + NOTE_GAP
                room = round(self.viewport().width() - left - theme.SPACE_XS)
                shown = metrics.elidedText(note, Qt.TextElideMode.ElideRight, room) if room > 0 else ""
                line = QRect(round(left), round(place.top()), max(room, 0), round(place.height()))
                painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
            block = block.next()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            words = self.text_at(self.viewport().mapFrom(self, event.pos()))
            if words:
                QToolTip.showText(event.globalPos(), words, self)
            else:
                QToolTip.hideText()
            return True
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            # While one writes, Ctrl+S is about the text, whatever it is elsewhere in the window.
            if event.matches(QKeySequence.StandardKey.Save):
                event.accept()
                return True
        return super().event(event)

    def text_at(self, at: QPoint) -> str:
        """The problems of the line at a point of the text, and its whole note."""
        line = self.cursorForPosition(QPoint(0, at.y())).blockNumber() + 1
        words = [each.message for each in self._squiggles if each.line == line]
        return "\n".join([*words, *([self._notes[line]] if line in self._notes else [])])

    # keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Save):
            self.save_requested.emit()
        elif typing_keys.handle(self, event):
            event.accept()
        else:
            QPlainTextEdit.keyPressEvent(self, event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        # A click in the text only places the caret.
        QPlainTextEdit.mouseReleaseEvent(self, event)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        super().retranslate()
        self.setAccessibleName(self.tr("Editor of the source"))


def _range(block: QTextBlock, squiggle: Squiggle) -> QTextCursor:
    """What a problem underlines: its columns, else the text of its line without the indentation."""
    text = block.text()
    start, end = squiggle.column, min(squiggle.end, len(text))
    if end <= start:
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if end <= start:
        start, end = 0, len(text)
    cursor = QTextCursor(block)
    cursor.setPosition(block.position() + start)
    cursor.setPosition(block.position() + end, QTextCursor.MoveMode.KeepAnchor)
    return cursor
