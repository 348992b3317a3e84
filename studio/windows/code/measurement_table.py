"""Below the editor: where the time of a step goes, by operator, each with the lines that it ran for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QTreeWidgetItem

from studio.windows.code.trial_table import LINES, NAME, RIGHT, TrialTable
from widgets import theme

TIME, SHARE, BYTES, RATE, CALLS = range(1, 6)

# Name and figures of a row, the lines that it is about, and the rows below it.
Row = tuple[Sequence[str], tuple[int, ...], "Sequence[Row]"]


class MeasurementTable(TrialTable):
    """The rows by operator, the longest first, or by call of a layer: ``kind_chosen`` follows the choice."""

    kind_chosen = Signal()

    def __init__(self) -> None:
        self.kinds = QComboBox()
        self.kinds.addItems(["", ""])
        super().__init__()
        self.kinds.activated.connect(self.kind_chosen)
        self._second_row.insertWidget(0, self.kinds)
        self.set_rows([])

    def shows_layers(self) -> bool:
        """Whether the rows are calls of layers."""
        return self.kinds.currentIndex() == 1

    def set_rows(self, rows: Sequence[Row]) -> None:
        """The rows, the longest first."""
        self.tree.clear()
        for row in rows:
            self.tree.addTopLevelItem(self._item(row))
        self.tree.setVisible(bool(rows))
        self.kinds.setVisible(bool(rows))

    def _item(self, row: Row) -> QTreeWidgetItem:
        cells, lines, parts = row
        item = QTreeWidgetItem(list(cells))
        item.setData(NAME, LINES, lines)
        item.setToolTip(NAME, cells[NAME])
        for place in range(TIME, len(cells)):
            item.setTextAlignment(place, RIGHT)
            item.setFont(place, theme.mono_font(theme.SECTION_PX))
        for part in parts:
            item.addChild(self._item(part))
        return item

    def retranslate(self) -> None:
        tr = self.tr
        self.tree.setAccessibleName(tr("Time of the operators"))
        self.kinds.setItemText(0, tr("By operator"))
        self.kinds.setItemText(1, tr("By layer"))
        self.kinds.setAccessibleName(tr("Rows of the time"))
        self.set_heads(
            [
                (
                    tr("Name"),
                    tr("The kernels, each with the source lines that called it; or the calls of layers"),
                    False,
                ),
                (tr("ms"), tr("Milliseconds of its kernels in one step"), True),
                (tr("Share"), tr("Share of a recorded step"), True),
                (tr("MB"), tr("Megabytes that it reads and writes in one step"), True),
                (
                    tr("GFLOP/s"),
                    tr("Billions of multiplications and additions a second; a dash if they are not counted"),
                    True,
                ),
                (tr("Calls"), tr("How often it runs in one step"), True),
            ]
        )
