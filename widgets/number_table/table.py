"""NumberTable: an editable array of numbers, one per cell; the caller handles pasted text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from widgets import theme
from widgets.param_form.fields import write
from widgets.retranslated import Retranslated

_Index = QModelIndex | QPersistentModelIndex


class _Model(QAbstractTableModel):
    """The numbers of an array of any shape: its last axis goes along the columns, a vector goes down."""

    edited = Signal()
    refused = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.values: NDArray[Any] = np.zeros(0)
        self._cells = self.values.reshape(0, 1)

    def show(self, values: NDArray[Any]) -> None:
        self.beginResetModel()
        self.values = np.array(values)
        columns = self.values.shape[-1] if self.values.ndim > 1 else 1
        self._cells = self.values.reshape(-1, columns)
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own default)
        return 0 if parent.isValid() else self._cells.shape[0]

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else self._cells.shape[1]

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            value = self._cells[index.row(), index.column()]
            return str(int(value)) if self.values.dtype.kind in "iub" else write(value)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        text = str(value).strip()
        try:
            whole = self.values.dtype.kind in "iub"
            self._cells[index.row(), index.column()] = int(text) if whole else float(text)
        except (ValueError, OverflowError):
            self.refused.emit(text)
            return False
        self.dataChanged.emit(index, index)
        self.edited.emit()
        return True

    def flags(self, index: _Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        return str(section) if role == Qt.ItemDataRole.DisplayRole else None


class NumberTable(Retranslated, QTableView):
    """`changed` carries the array after an edit; `refused` a text that is not a number of its type;
    `text_pasted` the text of Ctrl+V, which the caller reads and shows."""

    changed = Signal(object)
    refused = Signal(str)
    text_pasted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = _Model(self)
        self.setModel(self._model)
        self._model.edited.connect(lambda: self.changed.emit(self.values()))
        self._model.refused.connect(self.refused)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setMinimumSectionSize(64)
        self.verticalHeader().setDefaultSectionSize(theme.CONTROL_HEIGHT - 4)
        self.setMinimumSize(120, 90)
        self.retranslate()

    def set_values(self, values: NDArray[Any]) -> None:
        """Show an array; its type says what can be typed."""
        self._model.show(values)
        wide = self._model.columnCount() * 72 > max(self.width(), 320)
        mode = QHeaderView.ResizeMode.Interactive if wide else QHeaderView.ResizeMode.Stretch
        self.horizontalHeader().setSectionResizeMode(mode)

    def values(self) -> NDArray[Any]:
        """A copy of what is shown."""
        return self._model.values.copy()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste):
            self.text_pasted.emit(QGuiApplication.clipboard().text())
        else:
            super().keyPressEvent(event)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.setAccessibleName(self.tr("Numbers"))
        self.setAccessibleDescription(self.tr("Type a number into a cell, or paste a row or table of them."))
