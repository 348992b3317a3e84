"""The model of a table whose rows are keys in an own order: Qt asks only for the cells that it paints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from widgets.column_table.cells import Cell, TableColumn

ROLE = int(Qt.ItemDataRole.UserRole)
_Index = QModelIndex | QPersistentModelIndex
_SUPERSCRIPTS = "\u00b9\u00b2\u00b3\u2074"


class ColumnTableModel(QAbstractTableModel):
    """``cell`` gives the cell of a row's key in a column; each is asked for once until ``refresh``."""

    def __init__(self, cell: Callable[[str, str], Cell], parent: QWidget) -> None:
        super().__init__(parent)
        self._cell = cell
        self.columns: list[TableColumn] = []
        self.keys: list[str] = []
        self._sort: dict[str, tuple[int, bool]] = {}
        self._cells: dict[tuple[str, str], Cell] = {}
        self._rows: dict[str, int] | None = None

    def set_columns(self, columns: Sequence[TableColumn]) -> None:
        """Have these columns."""
        self.beginResetModel()
        self.columns = list(columns)
        self._cells.clear()
        self.endResetModel()

    def set_keys(self, keys: Sequence[str]) -> None:
        """Have these rows."""
        self.beginResetModel()
        self.keys = list(keys)
        self._rows = None
        self._cells.clear()
        self.endResetModel()

    def refresh(self) -> None:
        """Ask for the cells again."""
        self._cells.clear()
        if self.keys and self.columns:
            last = self.index(len(self.keys) - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def set_sort(self, keys: Sequence[tuple[str, bool]]) -> None:
        """Show in the header by which columns rows are sorted, each with whether the largest is first."""
        self._sort = {name: (place, largest) for place, (name, largest) in enumerate(keys)}
        if self.columns:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def row(self, key: str) -> int:
        """The row of a key; -1 where there is none."""
        if self._rows is None:
            self._rows = {each: place for place, each in enumerate(self.keys)}
        return self._rows.get(key, -1)

    def cell(self, row: int, column: int) -> Cell:
        """What a cell shows."""
        at = self.keys[row], self.columns[column].name
        found = self._cells.get(at)
        if found is None:
            found = self._cells[at] = self._cell(*at)
        return found

    def title(self, column: int) -> str:
        """The title of a column, with an arrow where rows are sorted by it."""
        shown = self.columns[column]
        if shown.name not in self._sort:
            return shown.title
        place, largest_first = self._sort[shown.name]
        number = _SUPERSCRIPTS[place] if len(self._sort) > 1 else ""
        arrow = "\u2193" if largest_first else "\u2191"
        return f"{shown.title} {arrow}{number}"

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own default)
        return 0 if parent.isValid() else len(self.keys)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        roles = Qt.ItemDataRole
        if role not in (ROLE, roles.DisplayRole, roles.ToolTipRole, roles.AccessibleTextRole):
            return None
        cell = self.cell(index.row(), index.column())
        if role == ROLE:
            return cell
        if role == roles.ToolTipRole:
            return cell.tip or cell.text or None
        if role == roles.AccessibleTextRole:
            return cell.spoken or cell.text
        return cell.text

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.title(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip or column.title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.numeric else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None
