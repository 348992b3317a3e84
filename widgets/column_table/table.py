"""ColumnTable: many rows in columns that are chosen, moved, resized and sorted by several keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from widgets import theme
from widgets.column_table.cells import Cell, TableColumn
from widgets.column_table.further_columns import FurtherColumns
from widgets.column_table.header import ColumnHeader
from widgets.column_table.model import ColumnTableModel
from widgets.column_table.painting import CellPainting
from widgets.delayed import delayed

SAMPLE = 30  # rows that say how wide a column is
NARROWEST, WIDEST = 64, 260
LOOK_MS = 60


class ColumnTable(QTableView):
    """Rows have keys; their order and the columns are the caller's.

    ``chosen_changed`` carries the keys of the selected rows, the current one first; ``opened`` the key of a
    row that was double clicked or entered; ``menu_requested`` a key and the position for a menu;
    ``sort_requested`` a column and whether it is a further one; ``columns_moved`` the names from left to
    right; ``column_resized`` a name and its width; ``columns_menu_requested`` a column and a position;
    ``visible_changed`` follows when other rows are in sight; ``copy_requested`` and ``delete_requested`` the
    keys for them.

    Args:
        cell: gives the cell of a row's key in a column.
    """

    chosen_changed = Signal(list)
    opened = Signal(str)
    menu_requested = Signal(str, object)
    sort_requested = Signal(str, bool)
    columns_moved = Signal(list)
    column_resized = Signal(str, int)
    columns_menu_requested = Signal(str, object)
    visible_changed = Signal()
    copy_requested = Signal()
    delete_requested = Signal()

    def __init__(self, cell: Callable[[str, str], Cell], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._silent = False
        self._rows = ColumnTableModel(cell, self)
        self.header = ColumnHeader(self)
        self.setHorizontalHeader(self.header)
        self.setModel(self._rows)
        self.setItemDelegate(CellPainting(self))
        modes = QAbstractItemView.SelectionMode
        self.setSelectionMode(modes.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        # The first row in sight is always whole: half of one below the header is hard to read.
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setMouseTracking(True)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(rows.ResizeMode.Fixed)
        rows.setDefaultSectionSize(theme.CONTROL_HEIGHT)
        self._looking = delayed(self, LOOK_MS, self.visible_changed.emit)
        FurtherColumns(self)
        self.selectionModel().selectionChanged.connect(self._report_chosen)
        self.doubleClicked.connect(lambda index: self.opened.emit(self._rows.keys[index.row()]))
        self.header.sort_requested.connect(
            lambda column, further: self.sort_requested.emit(self._rows.columns[column].name, further)
        )
        self.header.sectionMoved.connect(self._moved)
        self.header.sectionResized.connect(self._resized)
        self.header.customContextMenuRequested.connect(self._show_columns_menu)
        self.verticalScrollBar().valueChanged.connect(lambda _: self._looking.start())
        theme.changed.connect(self.viewport().update)

    # ----- contents -----

    def set_columns(self, columns: Sequence[TableColumn]) -> None:
        """Show these columns from left to right."""
        shown = [self._rows.columns[place] for place in self.header.order()]
        if [(each.name, each.title, each.numeric) for each in columns] == [
            (each.name, each.title, each.numeric) for each in shown
        ]:
            return
        chosen, across = self.chosen(), self.horizontalScrollBar().value()
        self._silent = True
        self._rows.set_columns(columns)
        self.header.restore_order()
        for place, column in enumerate(columns):
            self.setColumnWidth(place, column.width or self._fitting(place))
        self._silent = False
        self.mark(chosen)
        self.horizontalScrollBar().setValue(across)

    def _fitting(self, column: int) -> int:
        metrics = self.fontMetrics()
        wide = metrics.horizontalAdvance(self._rows.columns[column].title) + 34
        for row in range(min(SAMPLE, len(self._rows.keys))):
            cell = self._rows.cell(row, column)
            extra = (18 if cell.mark else 0) + (18 if cell.color is not None else 0) + 20
            wide = max(wide, metrics.horizontalAdvance(cell.text) + extra)
        return max(NARROWEST, min(wide, WIDEST))

    def set_keys(self, keys: Sequence[str]) -> None:
        """Show these rows; those that stay selected are still there, and the view stays where it is."""
        if list(keys) == self._rows.keys:
            self.refresh()
            return
        chosen, current, at = self.chosen(), self.current(), self.verticalScrollBar().value()
        was_empty = not self._rows.keys
        self._silent = True
        self._rows.set_keys(keys)
        self._silent = False
        self.mark(chosen, current)
        self.verticalScrollBar().setValue(at)
        if was_empty:
            self._fit_columns()
        self._looking.start()

    def _fit_columns(self) -> None:
        self._silent = True
        for place, column in enumerate(self._rows.columns):
            if not column.width:
                self.setColumnWidth(place, self._fitting(place))
        self._silent = False

    def set_sort(self, keys: Sequence[tuple[str, bool]]) -> None:
        """Show by which columns the rows are sorted."""
        self._rows.set_sort(keys)

    def refresh(self) -> None:
        """Ask for the cells again."""
        self._rows.refresh()
        self.viewport().update()

    def row_keys(self) -> list[str]:
        """The keys of the rows from top to bottom."""
        return list(self._rows.keys)

    def columns(self) -> list[str]:
        """The names of the columns from left to right."""
        return [self._rows.columns[place].name for place in self.header.order()]

    def text(self, key: str, column: str) -> str:
        """What a cell shows."""
        names = [each.name for each in self._rows.columns]
        return self._rows.cell(self._rows.row(key), names.index(column)).text

    def keys_in_sight(self) -> list[str]:
        """The keys of the rows that can be seen now."""
        if not self._rows.keys or not self.isVisible():
            return []
        first = max(self.rowAt(0), 0)
        last = self.rowAt(self.viewport().height() - 1)
        return self._rows.keys[first : (len(self._rows.keys) if last < 0 else last + 1)]

    # ----- selection -----

    def chosen(self) -> list[str]:
        """The keys of the selected rows, the current one first."""
        rows: list[int] = []
        for part in self.selectionModel().selection():
            rows.extend(range(part.top(), part.bottom() + 1))
        current = self.currentIndex().row()
        places = sorted(set(rows), key=lambda row: (row != current, row))
        return [self._rows.keys[row] for row in places]

    def current(self) -> str:
        """The key of the row that the keyboard is at; empty for none."""
        index = self.currentIndex()
        return self._rows.keys[index.row()] if index.isValid() else ""

    def mark(self, keys: Sequence[str], current: str = "") -> None:
        """Show that these rows are selected, without a signal."""
        rows = sorted({row for key in keys if (row := self._rows.row(key)) >= 0})
        selection, last = QItemSelection(), len(self._rows.columns) - 1
        begin = 0
        for place, row in enumerate(rows):
            if place + 1 == len(rows) or rows[place + 1] != row + 1:
                selection.select(self._rows.index(rows[begin], 0), self._rows.index(row, last))
                begin = place + 1
        flags = QItemSelectionModel.SelectionFlag
        self._silent = True
        model = self.selectionModel()
        at = self._rows.row(current or (keys[0] if keys else ""))
        if at >= 0:
            column = max(self.currentIndex().column(), 0)
            model.setCurrentIndex(self._rows.index(at, column), flags.NoUpdate)
        model.select(selection, flags.ClearAndSelect)
        self._silent = False

    def show_row(self, key: str) -> None:
        """Scroll to a row where it is out of sight."""
        row = self._rows.row(key)
        if row >= 0:
            self.scrollTo(self._rows.index(row, self.header.logicalIndexAt(0)))

    def _report_chosen(self, *_: object) -> None:
        if not self._silent:
            self.chosen_changed.emit(self.chosen())

    # ----- events -----

    def _moved(self, *_: object) -> None:
        if not self._silent:
            self.columns_moved.emit(self.columns())

    def _resized(self, column: int, _: int, width: int) -> None:
        if not self._silent and self.header.isVisible():
            self.column_resized.emit(self._rows.columns[column].name, width)

    def _show_columns_menu(self, at: object) -> None:
        column = self.header.logicalIndexAt(at)  # type: ignore[call-overload]
        name = self._rows.columns[column].name if column >= 0 else ""
        self.columns_menu_requested.emit(name, self.header.viewport().mapToGlobal(at))  # type: ignore[call-overload]

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if mouse else self.currentIndex()
        if index.isValid():
            middle = self.viewport().mapToGlobal(self.visualRect(index).center())
            self.menu_requested.emit(self._rows.keys[index.row()], event.globalPos() if mouse else middle)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current():
            self.opened.emit(self.current())
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_requested.emit()
        elif event.key() == Qt.Key.Key_Escape and self.chosen():
            self.clearSelection()
        else:
            super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """A letter does not look through thousands of rows: the filter does."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._looking.start()

    def updateGeometries(self) -> None:
        super().updateGeometries()
        self._show_first_whole()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        if dy:
            self._show_first_whole()

    def _show_first_whole(self) -> None:
        """At the end Qt would put the last row on the lower edge, and cut the first one."""
        rows, first = self.verticalHeader(), self.verticalScrollBar().value()
        if rows.count() and rows.offset() != rows.sectionPosition(first):
            rows.setOffsetToSectionPosition(first)
            self.viewport().update()

    def scrollTo(
        self,
        index: QModelIndex,  # type: ignore[override]
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Up and down only: selecting a row does not move the columns."""
        across = self.horizontalScrollBar().value()
        super().scrollTo(index, hint)
        if self._silent or not self.hasFocus():
            self.horizontalScrollBar().setValue(across)
