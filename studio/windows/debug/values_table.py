"""ValuesTable: the values at a position with their shapes, extremes, and what is not finite."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QMenu

from studio.session.debug.breakpoints import ValueRow
from widgets import theme
from widgets.column_table import Cell, ColumnTable, TableColumn
from widgets.retranslated import Retranslated

_ICONS = {"in": "style-right", "out": "export", "watch": "search", "": ""}


class ValuesTable(Retranslated, ColumnTable):
    """``value_chosen`` carries the name of the row that was chosen; ``watch_requested`` and
    ``change_requested`` a name from the menu."""

    value_chosen = Signal(str)
    watch_requested = Signal(str)
    change_requested = Signal(str)

    def __init__(self) -> None:
        self._shown: dict[str, ValueRow] = {}
        super().__init__(self._cell)
        self.setSelectionMode(ColumnTable.SelectionMode.SingleSelection)
        self.chosen_changed.connect(self._choose)
        self.opened.connect(self.change_requested)
        self.menu_requested.connect(self._open_menu)
        self.retranslate()

    def set_rows(self, rows: Sequence[ValueRow], value: str = "") -> None:
        """Show these values, and that ``value`` is chosen. A name that is an input and a result has two rows
        where it was written in place."""
        found: dict[str, ValueRow] = {}
        for row in rows:
            key = row.name if row.name not in found else f"{row.name} ({row.role})"
            found[key] = row
        self._shown = found
        self.set_keys(list(found))
        self.refresh()
        self.choose(value)

    def values(self) -> list[ValueRow]:
        """What is shown."""
        return list(self._shown.values())

    def choose(self, name: str) -> None:
        """Show that a value is chosen, without a signal."""
        keys = [key for key, row in self._shown.items() if row.name == name][-1:]
        self.mark(keys)
        for key in keys:
            self.show_row(key)

    def _choose(self, keys: list[str]) -> None:
        if keys:
            self.value_chosen.emit(self._shown[keys[0]].name)

    def menu(self, name: str) -> QMenu:
        """What can be done with a value."""
        menu = QMenu(self)
        menu.addAction(self.tr("Change value…"), lambda: self.change_requested.emit(name))
        menu.addAction(self.tr("Watch or no longer"), lambda: self.watch_requested.emit(name))
        return menu

    def _open_menu(self, key: str, at: QPoint) -> None:
        menu = self.menu(self._shown[key].name)
        menu.exec(at)
        menu.deleteLater()

    def _cell(self, key: str, column: str) -> Cell:
        row, tr = self._shown[key], self.tr
        if column == "name":
            words = {"in": tr("input"), "out": tr("result"), "watch": tr("watched"), "": ""}[row.role]
            spoken = f"{row.name}, {words}" if words else row.name
            return Cell(row.name, mark=_ICONS[row.role], tip=spoken, spoken=spoken)
        if column == "shape":
            if row.shape is None:
                return Cell(row.dtype, faint=True)
            sizes = ", ".join(str(size) for size in row.shape)
            return Cell(f"[{sizes}]", tip=f"[{sizes}] {row.dtype}", faint=True)
        if column == "bad":
            if not row.known or not row.bad:
                return Cell("0" if row.known and row.shape is not None else "", faint=True)
            return Cell(theme.format_number(row.bad), mark="warning", tint="bad", tip=self._bad_words(row))
        number = row.minimum if column == "minimum" else row.maximum
        return Cell("" if number is None else theme.format_number(number))

    def _bad_words(self, row: ValueRow) -> str:
        counts = (
            ("NaN", row.nan),
            ("+\u221e", row.positive_infinite),
            ("\u2212\u221e", row.negative_infinite),
        )
        return ", ".join(f"{theme.format_number(count)} {name}" for name, count in counts if count)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        bad = tr("Elements that are NaN or infinite")
        self.setAccessibleName(tr("Values"))
        self.set_columns(
            [
                TableColumn("name", tr("Value"), width=124),
                TableColumn("shape", tr("Shape"), width=96),
                TableColumn("bad", tr("NaN, \u221e"), bad, numeric=True, width=80),
                TableColumn("minimum", tr("Minimum"), tr("Smallest finite element"), numeric=True, width=72),
                TableColumn("maximum", tr("Maximum"), tr("Largest finite element"), numeric=True, width=72),
            ]
        )
