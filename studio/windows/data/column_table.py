"""The columns of a table: name, type, role and reason; a role can be changed, or a target be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from widgets import theme
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

ROLE_WIDTH = 116
MOST_ROWS = 300
"""Columns that are listed; each has a field of its own, and thousands of those would take seconds."""


@dataclass(frozen=True)
class ColumnRow:
    """A column in words; ``fixed`` where its role can't be changed, as that of the only target."""

    name: str
    type: str
    role: str
    reason: str
    missing: int
    distinct: int
    fixed: bool = False


class _RoleBox(QComboBox):
    """Turning the wheel scrolls the table, and changes no role."""

    def wheelEvent(self, event: object) -> None:  # type: ignore[override]
        event.ignore()  # type: ignore[attr-defined]


class ColumnTable(Retranslated, QWidget):
    """``role_chosen`` carries the name of a column and its new role.

    Args:
        asks: the table asks for the target: a click on a row, or Return, chooses it, which emits
            ``role_chosen`` with "target"; roles are not shown.
    """

    role_chosen = Signal(str, str)

    def __init__(self, asks: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asks = asks
        self._rows: tuple[ColumnRow, ...] = ()
        self.table = QTableWidget(0, 5)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.table.setWordWrap(False)
        self.table.verticalHeader().hide()
        if not asks:
            self.table.verticalHeader().setDefaultSectionSize(theme.CONTROL_HEIGHT + theme.SPACE_S)
        self.table.setMinimumHeight(120)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setMaximumSectionSize(260)
        header.setStretchLastSection(True)
        if asks:
            self.table.setColumnHidden(2, True)
            self.table.setMouseTracking(True)
            self.table.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
            self.table.cellClicked.connect(lambda row, _: self._choose(row))
        self.note = mute(wrap=True)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.note)
        self.retranslate()

    def keyPressEvent(self, event: object) -> None:  # type: ignore[override]
        if self._asks and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):  # type: ignore[attr-defined]
            self._choose(self.table.currentRow())
        else:
            super().keyPressEvent(event)  # type: ignore[arg-type]

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self._rows):
            self.role_chosen.emit(self._rows[row].name, "target")

    def rows(self) -> tuple[ColumnRow, ...]:
        """All columns, those too for which there is no row."""
        return self._rows

    def set_rows(self, rows: Sequence[ColumnRow]) -> None:
        """Show these columns."""
        if tuple(rows) == self._rows:
            return
        self._rows = tuple(rows)
        shown = self._rows[:MOST_ROWS]
        scrolled = self.table.verticalScrollBar().value()
        self.table.clearContents()
        self.table.setRowCount(len(shown))
        for line, row in enumerate(shown):
            texts = (row.name, row.type, "", self._counts(row), row.reason)
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setToolTip(f"{row.name}: {row.reason}" if row.reason else row.name)
                self.table.setItem(line, column, item)
            if not self._asks:
                self.table.setCellWidget(line, 2, self._role_box(row))
        self.table.verticalScrollBar().setValue(scrolled)
        more = len(self._rows) - len(shown)
        self.note.setText(self.tr("and {0} more").format(more) if more else "")
        self.note.setVisible(bool(more))

    def _counts(self, row: ColumnRow) -> str:
        words = self.tr("{0} different").format(theme.format_number(row.distinct))
        if row.missing:
            words += self.tr(", {0} missing").format(theme.format_number(row.missing))
        return words

    def _role_box(self, row: ColumnRow) -> QComboBox:
        box = _RoleBox()
        box.setMinimumWidth(ROLE_WIDTH)
        for role, words in self._roles().items():
            box.addItem(words, role)
        box.setCurrentIndex(max(0, box.findData(row.role)))
        box.setEnabled(not row.fixed)
        box.setAccessibleName(self.tr("Role of {0}").format(row.name))
        if row.fixed:
            box.setToolTip(self.tr("Choose another column as target first"))
        box.activated.connect(lambda _: self.role_chosen.emit(row.name, str(box.currentData())))
        return box

    def role_box(self, name: str) -> QComboBox:
        """The field with the role of a column. Raises KeyError where it has none."""
        for line, row in enumerate(self._rows[:MOST_ROWS]):
            box = self.table.cellWidget(line, 2)
            if row.name == name and isinstance(box, QComboBox):
                return box
        raise KeyError(f"ColumnTable: no field for the role of {name!r}")

    def _roles(self) -> dict[str, str]:
        return {
            "input": self.tr("Input"),
            "target": self.tr("Target"),
            "excluded": self.tr("Excluded"),
        }

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        names = (self.tr("Column"), self.tr("Type"), self.tr("Role"), self.tr("Values"), self.tr("Reason"))
        self.table.setHorizontalHeaderLabels(list(names))
        self.table.setColumnHidden(4, self._asks)
        self.table.setAccessibleName(self.tr("Columns of the table"))
        rows, self._rows = self._rows, ()
        self.set_rows(rows)
