"""Below the editor: the Program after a pass, what a plan runs, or what it holds; an operator a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QPushButton, QTreeWidgetItem

from studio.windows.code.trial_table import LINES, NAME, RIGHT, TrialTable
from widgets import theme

GONE, MADE = "\u2212", "+"


class OperatorRow(NamedTuple):
    """``cells`` in the order of the columns, the lines that the row is about, and whether it was taken away
    (GONE) or made (MADE), which stands before the first cell."""

    cells: Sequence[str]
    lines: tuple[int, ...] = ()
    mark: str = ""


class PlanTable(TrialTable):
    """Rows of operators in monospace; those that a pass took or made have their mark and colour."""

    help_requested = Signal()
    pair_requested = Signal()

    def __init__(self) -> None:
        self.pair, self.about_pass = QPushButton(), QPushButton()
        super().__init__()
        self.pair.clicked.connect(self.pair_requested)
        self.about_pass.clicked.connect(self.help_requested)
        for button in (self.pair, self.about_pass):
            self.add_button(button)
        self._marks: list[str] = []
        # There may be thousands of rows, and the caret moves with every key.
        self._by_line: dict[int, list[QTreeWidgetItem]] = {}
        self._lit: list[QTreeWidgetItem] = []
        self.tree.setRootIsDecorated(False)
        self.tree.setFont(self.name_font())
        self.set_table([], [])
        theme.changed.connect(self._recolor)

    def set_table(self, heads: Sequence[tuple[str, str, bool]], rows: Sequence[OperatorRow]) -> None:
        """Columns (title, what stands there, whether these are numbers) and rows."""
        self.tree.clear()
        self.tree.setVisible(bool(rows))
        self._marks = [row.mark for row in rows]
        self._by_line, self._lit = {}, []
        if not rows:
            return
        self.set_heads(heads)
        numbers = [place for place, (_, _, number) in enumerate(heads) if number]
        words = [place for place in range(len(heads)) if place not in numbers]
        marked = any(self._marks)
        items = []
        for row in rows:
            first = f"{row.mark or ' '} {row.cells[NAME]}" if marked else row.cells[NAME]
            item = QTreeWidgetItem([first, *row.cells[1:]])
            item.setData(NAME, LINES, row.lines)
            for place in words:
                item.setToolTip(place, row.cells[place].strip())
            for place in numbers:
                item.setTextAlignment(place, RIGHT)
            for line in row.lines:
                self._by_line.setdefault(line, []).append(item)
            items.append(item)
        self.tree.addTopLevelItems(items)
        self._recolor()

    def offer(self, pair: bool, about: bool) -> None:
        """Whether there are two Programs to show side by side, and help about the pass."""
        self.pair.setVisible(pair)
        self.about_pass.setVisible(about)

    def name_font(self, bold: bool = False) -> QFont:
        font = theme.mono_font(theme.SECTION_PX)
        font.setBold(bold)
        return font

    def light_line(self, line: int) -> None:
        """Write the rows of a line in bold and bring the first of them into view; 0 marks none."""
        plain, bold = self.name_font(), self.name_font(bold=True)
        for item in self._lit:
            item.setFont(NAME, plain)
        self._lit = list(self._by_line.get(line, ()))
        for item in self._lit:
            item.setFont(NAME, bold)
        if self._lit and not self.tree.hasFocus():
            self.tree.scrollToItem(self._lit[0])

    def _recolor(self) -> None:
        tokens = theme.current()
        colors = {MADE: tokens.ok, GONE: tokens.bad}
        for place, mark in enumerate(self._marks):
            if mark:
                self.tree.topLevelItem(place).setForeground(NAME, QColor(colors[mark]))

    def retranslate(self) -> None:
        tr = self.tr
        self.tree.setAccessibleName(tr("Operators of passes and plans"))
        self.pair.setText(tr("Side by side…"))
        self.pair.setToolTip(tr("Show the diagrams before and after this pass"))
        self.about_pass.setText(tr("About this pass"))
        self.about_pass.setToolTip(tr("Open the help about this pass"))
