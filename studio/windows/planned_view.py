"""Below the editor: the Program after a pass, what a plan runs, or what it holds; an operator a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QTreeWidgetItem

from studio.windows.trial_table import LINES, NAME, RIGHT, TrialTable
from widgets import theme

GONE, MADE = "\u2212", "+"


class OperatorRow(NamedTuple):
    """``cells`` in the order of the columns, the lines that the row is about, and whether it was taken away
    (GONE) or made (MADE), which stands before the first cell."""

    cells: Sequence[str]
    lines: tuple[int, ...] = ()
    mark: str = ""
    tip: str = ""


class PlannedView(TrialTable):
    """Rows of operators in monospace; those that a pass took or made have their mark and colour."""

    def __init__(self) -> None:
        super().__init__()
        self._marks: list[str] = []
        self.tree.setRootIsDecorated(False)
        self.set_table([], [])
        theme.changed.connect(self._recolor)

    def set_table(self, heads: Sequence[tuple[str, str, bool]], rows: Sequence[OperatorRow]) -> None:
        """Columns (title, what stands there, whether these are numbers) and rows."""
        self.tree.clear()
        self.tree.setVisible(bool(rows))
        self._marks = [row.mark for row in rows]
        if not rows:
            return
        self.set_heads(heads)
        numbers = [place for place, (_, _, number) in enumerate(heads) if number]
        marked = any(self._marks)
        font, figures = self.name_font(), theme.mono_font(theme.SECTION_PX)
        items = []
        for row in rows:
            first = f"{row.mark or ' '} {row.cells[NAME]}" if marked else row.cells[NAME]
            item = QTreeWidgetItem([first, *row.cells[1:]])
            item.setData(NAME, LINES, row.lines)
            item.setFont(NAME, font)
            item.setToolTip(NAME, row.cells[NAME].strip())
            for place in range(1, len(row.cells)):
                item.setToolTip(place, row.tip or row.cells[place])
            for place in numbers:
                item.setTextAlignment(place, RIGHT)
                item.setFont(place, figures)
            items.append(item)
        self.tree.addTopLevelItems(items)
        self._recolor()

    def name_font(self, bold: bool = False) -> QFont:
        font = theme.mono_font(theme.SECTION_PX)
        font.setBold(bold)
        return font

    def light_line(self, line: int) -> None:
        """Write the rows of a line in bold and bring the first of them into view; 0 marks none."""
        super().light_line(line)
        if line and not self.tree.hasFocus():
            first = next((each for each in self._items() if line in (each.data(NAME, LINES) or ())), None)
            if first is not None:
                self.tree.scrollToItem(first)

    def _recolor(self) -> None:
        tokens = theme.current()
        colors = {MADE: tokens.ok, GONE: tokens.bad}
        for place, mark in enumerate(self._marks):
            if mark:
                self.tree.topLevelItem(place).setForeground(NAME, QColor(colors[mark]))

    def retranslate(self) -> None:
        self.tree.setAccessibleName(self.tr("Operators of passes and plans"))
