"""CodeView: read-only source with line numbers, marked lines and clicks on lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from widgets import theme
from widgets.code_view.highlighter import PythonHighlighter
from widgets.retranslated import Retranslated

DOT = 10  # pixels of the mark of a breakpoint


class _Gutter(QWidget):
    """The strip of line numbers."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._view = view
        self.setCursor(Qt.CursorShape.ArrowCursor)

    def sizeHint(self) -> QSize:
        return QSize(self._view.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._view.paint_gutter(self, event.rect())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._view.click_number_at(event.position().toPoint())


class CodeView(Retranslated, QPlainTextEdit):
    """Source text to read. `line_clicked` carries the number of a line clicked, or entered with Return.

    Lines are numbered from `first_line`, so that a function keeps the numbers of its file. Where breakpoints
    are offered, a click on a number emits `breakpoint_toggled` instead.
    """

    line_clicked = Signal(int)
    breakpoint_toggled = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._first = 1
        self._top: int | None = None  # the line at the top, until the user scrolls or chooses another
        self._marked: tuple[int, ...] = ()
        self._breakpoints: Mapping[int, bool] | None = None
        self.setReadOnly(True)
        # The caret stays visible, so that lines can be walked with the arrow keys and entered with Return.
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.document().setDocumentMargin(theme.SPACE_S)
        self._gutter = _Gutter(self)
        self._highlighter = PythonHighlighter(self.document())
        self.blockCountChanged.connect(lambda: self._update_margin())
        self.updateRequest.connect(self._scroll_gutter)
        self.cursorPositionChanged.connect(self._forget_top)
        self.verticalScrollBar().actionTriggered.connect(self._forget_top)
        theme.changed.connect(self._recolor)
        self._recolor()
        self.retranslate()

    # contents

    def set_code(self, text: str, first_line: int = 1) -> None:
        """Show a text whose first line has the number `first_line`; marks are taken away."""
        self._first, self._marked = first_line, ()
        # The newline that ends a file begins no line.
        self.setPlainText(text.removesuffix("\n"))
        self._update_margin()
        self._show_marks()

    def code(self) -> str:
        """The text that is shown."""
        return self.toPlainText()

    def mark_lines(self, lines: Iterable[int]) -> None:
        """Mark lines by their numbers (others are ignored) and bring the first one into view."""
        last = self._first + self.blockCount() - 1
        self._marked = tuple(sorted({line for line in lines if self._first <= line <= last}))
        self._show_marks()
        if self._marked:
            self.show_line(self._marked[0])

    def marked_lines(self) -> tuple[int, ...]:
        """The numbers of the marked lines."""
        return self._marked

    def set_breakpoints(self, lines: Mapping[int, bool]) -> None:
        """Show breakpoints at lines, False for one that is switched off; from now on they are offered."""
        self._breakpoints = dict(lines)
        self._update_margin()
        self._show_marks()

    def breakpoints(self) -> Mapping[int, bool]:
        """The lines with breakpoints."""
        return self._breakpoints or {}

    def current_line(self) -> int:
        """The number of the line that the caret is in."""
        return self.textCursor().blockNumber() + self._first

    def show_line(self, line: int, at_top: bool = False) -> None:
        """Put the caret on a line and bring it into view; ``at_top`` as the first one of the view, also when
        that gets its size later."""
        block = self.document().findBlockByNumber(line - self._first)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self._top = line if at_top else None
            if at_top:
                self._show_top()
            else:
                self.ensureCursorVisible()

    def _forget_top(self) -> None:
        self._top = None

    def _show_top(self) -> None:
        if self._top is not None:
            self.verticalScrollBar().setValue(self._top - self._first)

    def _show_marks(self) -> None:
        selections = []
        for line in self._marked:
            mark = QTextEdit.ExtraSelection()
            mark.format.setBackground(QColor(theme.current().selection))
            mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            mark.cursor = QTextCursor(self.document().findBlockByNumber(line - self._first))
            selections.append(mark)
        self.setExtraSelections(selections)
        self._gutter.update()
        words = ", ".join(str(line) for line in self._marked)
        marked = self.tr("Marked lines: {0}").format(words) if words else ""
        stops = ", ".join(str(line) for line in sorted(self.breakpoints()))
        if stops:
            marked = f"{marked} {self.tr('Breakpoints: {0}').format(stops)}".strip()
        self.setAccessibleDescription(marked)

    # line numbers

    def gutter_width(self) -> int:
        """The room that the line numbers take."""
        digits = len(str(self._first + max(1, self.blockCount()) - 1))
        room = 0 if self._breakpoints is None else DOT + theme.SPACE_XS
        return self.fontMetrics().horizontalAdvance("9") * max(2, digits) + 2 * theme.SPACE_S + room

    def number_text(self, line: int) -> str:
        """What the gutter shows for a line."""
        return str(line)

    def paint_gutter(self, gutter: QWidget, area: QRect) -> None:
        """Draw the numbers of the visible lines."""
        tokens = theme.current()
        painter = QPainter(gutter)
        painter.fillRect(area, QColor(tokens.code))
        painter.setFont(self.font())
        height = self.fontMetrics().height()
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= area.bottom():
            bottom = top + self.blockBoundingRect(block).height()
            if block.isVisible() and bottom >= area.top():
                line = block.blockNumber() + self._first
                marked = line in self._marked
                if marked:
                    painter.fillRect(QRect(0, round(top), 3, round(bottom - top)), QColor(tokens.accent))
                if line in self.breakpoints():
                    self._paint_breakpoint(painter, top, height, self.breakpoints()[line])
                painter.setPen(QColor(tokens.text if marked else tokens.mute))
                room = QRect(0, round(top), gutter.width() - theme.SPACE_S, height)
                painter.drawText(room, Qt.AlignmentFlag.AlignRight, self.number_text(line))
            block, top = block.next(), bottom

    def _paint_breakpoint(self, painter: QPainter, top: float, height: int, on: bool) -> None:
        """A dot; a ring for one that is switched off."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color = QColor(theme.current().bad)
        painter.setPen(QPen(color, 1.5))
        painter.setBrush(color if on else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QRectF(theme.SPACE_XS + 1, top + (height - DOT) / 2, DOT - 2, DOT - 2))
        painter.restore()

    def _update_margin(self) -> None:
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)
        self._place_gutter()
        self._gutter.update()

    def _place_gutter(self) -> None:
        area = self.contentsRect()
        self._gutter.setGeometry(area.left(), area.top(), self.gutter_width(), area.height())

    def _scroll_gutter(self, area: QRect, shift: int) -> None:
        if shift:
            self._gutter.scroll(0, shift)
        else:
            self._gutter.update(0, area.y(), self._gutter.width(), area.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_gutter()
        self._show_top()

    def update_gutter(self) -> None:
        """Draw the numbers anew."""
        self._gutter.update()

    # clicks

    def click_at(self, at: QPoint) -> None:
        """Emit the click at a height, in the coordinates of the text or the line numbers."""
        block = self.cursorForPosition(QPoint(0, at.y())).block()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset())
        if top.top() <= at.y() <= top.bottom():
            self.line_clicked.emit(block.blockNumber() + self._first)

    def click_number_at(self, at: QPoint) -> None:
        """A click on the line number at a height."""
        if self._breakpoints is None:
            self.click_at(at)
            return
        block = self.cursorForPosition(QPoint(0, at.y())).block()
        self.breakpoint_toggled.emit(block.blockNumber() + self._first)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        # A selection is made to be copied.
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.click_at(event.position().toPoint())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.line_clicked.emit(self.textCursor().blockNumber() + self._first)
        else:
            super().keyPressEvent(event)

    # looks

    def _recolor(self) -> None:
        self.setFont(theme.mono_font())
        self._update_margin()
        self._show_marks()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.setAccessibleName(self.tr("Source code"))
        self._show_marks()
