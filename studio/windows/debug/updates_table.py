"""UpdatesTable: parameters that are updated one by one: before, gradient, after."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal

from studio.session.debug.breakpoints import ValueRow
from studio.session.debug.debug_view import UpdateRow
from widgets import theme
from widgets.column_table import Cell, ColumnTable, TableColumn
from widgets.retranslated import Retranslated


class UpdatesTable(Retranslated, ColumnTable):
    """A row for each parameter, the current one marked; ``parameter_chosen`` carries a name."""

    parameter_chosen = Signal(str)

    def __init__(self) -> None:
        self._shown: dict[str, UpdateRow] = {}
        self._current = ""
        super().__init__(self._cell)
        self.setSelectionMode(ColumnTable.SelectionMode.SingleSelection)
        self.chosen_changed.connect(lambda keys: keys and self.parameter_chosen.emit(keys[0]))
        self.retranslate()

    def set_rows(self, rows: Sequence[UpdateRow], current: str = "") -> None:
        """Show these parameters; ``current`` was updated last."""
        self._shown, self._current = {row.name: row for row in rows}, current
        self.set_keys(list(self._shown))
        self.refresh()
        if current in self._shown:
            self.mark([current])
            self.show_row(current)

    def _cell(self, key: str, column: str) -> Cell:
        row = self._shown[key]
        if column == "name":
            return Cell(key, mark="position" if key == self._current else "", tint="accent")
        value = {"before": row.before, "gradient": row.gradient, "after": row.after}[column]
        if value is None:
            return Cell("\u2013", faint=True)
        return _range(value)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.setAccessibleName(tr("Updates of parameters"))
        self.set_columns(
            [
                TableColumn("name", tr("Parameter"), width=130),
                TableColumn("before", tr("Before"), tr("Smallest to largest element"), width=120),
                TableColumn("gradient", tr("Gradient"), tr("Smallest to largest element"), width=120),
                TableColumn("after", tr("After"), tr("Smallest to largest element"), width=120),
            ]
        )


def _range(value: ValueRow) -> Cell:
    low, high = value.minimum, value.maximum
    words = "\u2013"
    if low is not None and high is not None:
        words = f"{theme.format_number(low, digits=3)} \u2026 {theme.format_number(high, digits=3)}"
    if value.bad:
        return Cell(words, mark="warning", tint="bad", tip=f"{value.bad} not finite")
    return Cell(words)
