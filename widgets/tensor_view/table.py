"""TensorTable: the numbers of a tensor of any size, of which only those that come into view are fetched."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QLineEdit, QWidget

from widgets import theme
from widgets.delayed import delayed
from widgets.retranslated import Retranslated
from widgets.tensor_view.data import Block, cell_at, index_at, row_title, table_shape

TILE_ROWS, TILE_COLUMNS = 64, 32
MOST_TILES = 128
CELL = 88
SCROLL = 1 << 30  # steps of a scroll bar; a table of more rows moves by several at once
FETCH_MS = 20


class TensorTable(Retranslated, QAbstractScrollArea):
    """Paints the cells that are in view.

    ``block_wanted`` asks for (row, rows, column, columns); ``set_block`` shows the answer. ``cell_entered``
    carries an index and the text that was typed into its cell, which Return or a double click opens where
    the table is editable. ``current_changed`` carries the index of the current cell.
    """

    block_wanted = Signal(object, object, object, object)  # Python's integers: Qt's int has 32 bits
    cell_entered = Signal(object, str)
    current_changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shape: tuple[int, ...] = (0,)
        self._rows = self._columns = 0
        self._tiles: OrderedDict[tuple[int, int], NDArray[Any]] = OrderedDict()
        self._asked: set[tuple[int, int]] = set()
        self._row = self._column = 0
        self._editable = False
        self._editor = QLineEdit(self.viewport())
        self._editor.hide()
        self._editor.installEventFilter(self)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setMinimumSize(160, 96)
        self._fetching = delayed(self, FETCH_MS, self._fetch)
        for bar in (self.verticalScrollBar(), self.horizontalScrollBar()):
            bar.valueChanged.connect(self._scrolled)
        theme.changed.connect(self.viewport().update)
        self.retranslate()

    # ----- contents -----

    def set_shape(self, shape: tuple[int, ...], editable: bool = False) -> None:
        """Show a tensor of this shape, none of whose numbers are known yet."""
        moved = shape != self._shape
        self._shape, self._editable = shape, editable
        self._rows, self._columns = table_shape(shape)
        self._tiles.clear()
        self._asked.clear()
        self._editor.hide()
        if moved:
            self._row = self._column = 0
            self.verticalScrollBar().setValue(0)
            self.horizontalScrollBar().setValue(0)
        self._fit()
        self.retranslate()
        self._fetching.start()

    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor that is shown."""
        return self._shape

    def set_block(self, block: Block) -> None:
        """Show numbers that were asked for; a block that does not begin and end with tiles is ignored."""
        at = block.row // TILE_ROWS, block.column // TILE_COLUMNS
        if block.row % TILE_ROWS or block.column % TILE_COLUMNS or block.values.shape != self._extent(*at):
            return
        self._asked.discard(at)
        self._tiles[at] = block.values
        while len(self._tiles) > MOST_TILES:
            self._tiles.popitem(last=False)
        self._describe()
        self.viewport().update()

    def text(self, row: int, column: int) -> str:
        """What a cell shows; an ellipsis where it is not known yet."""
        tile = self._tiles.get((row // TILE_ROWS, column // TILE_COLUMNS))
        if tile is None:
            return "\u2026"
        return _text(tile[row % TILE_ROWS, column % TILE_COLUMNS])

    def _extent(self, line: int, place: int) -> tuple[int, int]:
        rows = min(TILE_ROWS, self._rows - line * TILE_ROWS)
        return rows, min(TILE_COLUMNS, self._columns - place * TILE_COLUMNS)

    def _fetch(self) -> None:
        """Ask for the tiles in view that are neither known nor asked for."""
        if not self.isVisible() or not self._rows or not self._columns:
            return
        top, left, down, across = self._view()
        for line in range(top // TILE_ROWS, (top + down - 1) // TILE_ROWS + 1):
            for place in range(left // TILE_COLUMNS, (left + across - 1) // TILE_COLUMNS + 1):
                if (line, place) in self._tiles:
                    self._tiles.move_to_end((line, place))
                elif (line, place) not in self._asked:
                    self._asked.add((line, place))
                    rows, columns = self._extent(line, place)
                    self.block_wanted.emit(line * TILE_ROWS, rows, place * TILE_COLUMNS, columns)

    # ----- where things are -----

    def _row_height(self) -> int:
        return QFontMetrics(theme.font()).height() + theme.SPACE_S

    def _head_width(self) -> int:
        widest = row_title(self._shape, max(0, self._rows - 1))
        return QFontMetrics(theme.mono_font()).horizontalAdvance("0" * max(3, len(widest))) + theme.SPACE_M

    def _fitting(self) -> tuple[int, int]:
        """How many whole rows and columns there is room for."""
        high = self.viewport().height() // self._row_height() - 1
        return max(1, high), max(1, (self.viewport().width() - self._head_width()) // CELL)

    def _first_row(self) -> int:
        bar = self.verticalScrollBar()
        last = self._rows - self._fitting()[0]
        return bar.value() if last <= SCROLL else bar.value() * last // SCROLL

    def _view(self) -> tuple[int, int, int, int]:
        """First row and column in view, and how many are at least partly in view."""
        top, left = self._first_row(), self.horizontalScrollBar().value()
        down, across = self._fitting()
        return top, left, min(down + 1, self._rows - top), min(across + 1, self._columns - left)

    def _fit(self) -> None:
        down, across = self._fitting()
        for bar, count, shown in (
            (self.verticalScrollBar(), self._rows, down),
            (self.horizontalScrollBar(), self._columns, across),
        ):
            bar.setPageStep(shown)
            bar.setRange(0, min(SCROLL, max(0, count - shown)))

    def cell_rect(self, row: int, column: int) -> QRect:
        """Where a cell is, in the coordinates of the viewport."""
        high = self._row_height()
        top, left, _, _ = self._view()
        return QRect(self._head_width() + (column - left) * CELL, (row - top + 1) * high, CELL, high)

    def _cell_at(self, at: QPoint) -> tuple[int, int] | None:
        top, left, down, across = self._view()
        row = top + at.y() // self._row_height() - 1
        column = left + (at.x() - self._head_width()) // CELL
        inside = top <= row < top + down and left <= column < left + across
        return (row, column) if inside and at.x() >= self._head_width() else None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._editor.hide()
        self._fit()
        self._fetching.start()

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._fetching.start()

    def _scrolled(self, _: int) -> None:
        self._editor.hide()
        self._fetching.start()
        self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(360, 280)

    # ----- the current cell -----

    def current(self) -> tuple[int, ...]:
        """The index of the current cell."""
        return index_at(self._shape, self._row, self._column)

    def go_to(self, index: tuple[int, ...]) -> None:
        """Make the cell of an index current and bring it into view. Raises ValueError outside."""
        self._move(*cell_at(self._shape, index))

    def _move(self, row: int, column: int) -> None:
        if not self._rows or not self._columns:
            return
        self._row, self._column = min(max(row, 0), self._rows - 1), min(max(column, 0), self._columns - 1)
        down, across = self._fitting()
        top, left = self._first_row(), self.horizontalScrollBar().value()
        if not top <= self._row < top + down:
            wanted = self._row if self._row < top else self._row - down + 1
            last = self._rows - down
            scaled = wanted if last <= SCROLL else math.ceil(wanted * SCROLL / last)
            self.verticalScrollBar().setValue(scaled)
        if not left <= self._column < left + across:
            wanted = self._column if self._column < left else self._column - across + 1
            self.horizontalScrollBar().setValue(wanted)
        self._describe()
        self.current_changed.emit(self.current())
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, page = event.key(), self._fitting()[0]
        whole = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        row, column = self._row, self._column
        moves = {
            Qt.Key.Key_Up: (row - 1, column),
            Qt.Key.Key_Down: (row + 1, column),
            Qt.Key.Key_Left: (row, column - 1),
            Qt.Key.Key_Right: (row, column + 1),
            Qt.Key.Key_PageUp: (row - page, column),
            Qt.Key.Key_PageDown: (row + page, column),
            Qt.Key.Key_Home: (0 if whole else row, 0),
            Qt.Key.Key_End: (self._rows - 1 if whole else row, self._columns - 1),
        }
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.text(row, column))
        elif key in moves:
            self._move(*moves[Qt.Key(key)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.edit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position().toPoint())
        self._editor.hide()
        if cell is not None:
            self._move(*cell)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._cell_at(event.position().toPoint()) is not None:
            self.edit()

    def edit(self) -> None:
        """Let the user type another number into the current cell, where its number is known."""
        tile = self._tiles.get((self._row // TILE_ROWS, self._column // TILE_COLUMNS))
        if not self._editable or tile is None:
            return
        value = tile[self._row % TILE_ROWS, self._column % TILE_COLUMNS]
        self._editor.setText(str(value.item()))
        self._editor.setGeometry(self.cell_rect(self._row, self._column))
        self._editor.selectAll()
        self._editor.show()
        self._editor.setFocus()

    def editor(self) -> QLineEdit:
        """The field over the cell that is edited."""
        return self._editor

    def eventFilter(self, watched: QWidget, event: QEvent) -> bool:  # type: ignore[override]
        if watched is self._editor:
            # Not by returnPressed: the key would then reach the table, which opens the field.
            if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
                key = event.key()
                if key in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
                    self._editor.hide()
                    self.setFocus()
                    if key != Qt.Key.Key_Escape:
                        self.cell_entered.emit(self.current(), self._editor.text())
                    return True
            if event.type() == QEvent.Type.FocusOut:
                self._editor.hide()
        return False

    # ----- painting -----

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current()
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), QColor(tokens.panel))
        high, head = self._row_height(), self._head_width()
        top, left, down, across = self._view()
        right, middle = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.mono_font())
        painter.setPen(QColor(tokens.mute))
        for column in range(left, left + across):
            box = QRect(head + (column - left) * CELL, 0, CELL - theme.SPACE_S, high)
            painter.drawText(box, right | middle, str(column) if self._columns > 1 else "")
        for row in range(top, top + down):
            box = QRect(0, (row - top + 1) * high, head - theme.SPACE_S, high)
            painter.drawText(box, right | middle, row_title(self._shape, row))
        painter.setFont(theme.font())
        for row in range(top, top + down):
            for column in range(left, left + across):
                self._paint_cell(painter, row, column)
        painter.setPen(QPen(QColor(tokens.line)))
        painter.drawLine(0, high - 1, self.viewport().width(), high - 1)
        painter.drawLine(head - 4, 0, head - 4, self.viewport().height())

    def _paint_cell(self, painter: QPainter, row: int, column: int) -> None:
        tokens, box, text = theme.current(), self.cell_rect(row, column), self.text(row, column)
        if (row, column) == (self._row, self._column):
            painter.fillRect(box, QColor(tokens.selection))
            if self.hasFocus():
                painter.setPen(QPen(QColor(tokens.accent)))
                painter.drawRect(box.adjusted(0, 0, -1, -1))
        special = text == "NaN" or text.endswith("\u221e")
        color = tokens.bad if special else tokens.mute if text in ("0", "\u2026") else tokens.text
        painter.setPen(QColor(color))
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box.adjusted(0, 0, -theme.SPACE_S, 0), flags, text)

    # ----- words -----

    def _describe(self) -> None:
        index = ", ".join(str(at) for at in self.current())
        self.setAccessibleDescription(f"[{index}] {self.text(self._row, self._column)}")

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        words = self.tr("Table of {0} rows and {1} columns")
        rows, columns = theme.format_number(self._rows), theme.format_number(self._columns)
        self.setAccessibleName(words.format(rows, columns))
        self._editor.setAccessibleName(self.tr("Number"))
        self._describe()


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, np.integer):
        return theme.format_number(int(value))
    if isinstance(value, np.complexfloating):
        sign = "" if str(value.imag).startswith("-") else "+"
        return f"{value.real:.4g}{sign}{value.imag:.4g}j"
    return theme.format_number(float(value), digits=5)
