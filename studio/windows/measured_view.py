"""Below the editor: where the time of a step goes, by operator, each with the lines that it ran for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.windows.controls import ActionButton, ValueLabel, mute
from widgets import theme

NAME, TIME, SHARE, BYTES, RATE, CALLS = range(6)
LINES = Qt.ItemDataRole.UserRole

# Name and figures of a row, the lines that it is about, and the rows below it.
Row = tuple[Sequence[str], tuple[int, ...], "Sequence[Row]"]


class MeasuredView(QWidget):
    """``lines_chosen`` carries the source lines of the row that was clicked or entered."""

    lines_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.buttons: list[ActionButton] = []
        self.problem, self.about = ValueLabel(), mute(wrap=True)
        self.tree = QTreeWidget()
        self.tree.setColumnCount(CALLS + 1)
        self.tree.setUniformRowHeights(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setIndentation(theme.SPACE_M)
        self.tree.setProperty("focusRing", True)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(36)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setFont(theme.font(theme.SECTION_PX, bold=True))
        self._row = QHBoxLayout()
        self._row.setSpacing(theme.SPACE_S)
        self._row.addWidget(self.about, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        layout.addLayout(self._row)
        layout.addWidget(self.problem)
        layout.addWidget(self.tree, 1)
        layout.addStretch(0)
        self.tree.itemClicked.connect(self._chosen)
        self.tree.itemActivated.connect(self._chosen)
        self.retranslate()
        self.set_problem("")
        self.set_rows([])

    def add_action(self, action: QAction, icon: str, role: str = "") -> None:
        """A button for a command, shown while the command can be given."""
        button = ActionButton(action, icon, role)
        self.buttons.append(button)
        self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        action.changed.connect(lambda: button.setVisible(action.isEnabled()))
        button.setVisible(action.isEnabled())

    def set_problem(self, text: str) -> None:
        """Why nothing was measured; empty where nothing is wrong."""
        self.problem.set_value(text)
        self.problem.setVisible(bool(text))

    def set_about(self, text: str) -> None:
        """What was measured, and how."""
        self.about.setText(text)

    def set_rows(self, rows: Sequence[Row]) -> None:
        """The rows, the longest first."""
        self.tree.clear()
        for row in rows:
            self.tree.addTopLevelItem(self._item(row))
        self.tree.setVisible(bool(rows))

    def _item(self, row: Row) -> QTreeWidgetItem:
        cells, lines, parts = row
        item = QTreeWidgetItem(list(cells))
        item.setData(NAME, LINES, lines)
        item.setToolTip(NAME, cells[NAME])
        for place in range(TIME, len(cells)):
            item.setTextAlignment(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setFont(place, theme.mono_font(theme.SECTION_PX))
        for part in parts:
            item.addChild(self._item(part))
        return item

    def light_line(self, line: int) -> None:
        """Write the rows in bold that a line of the source is part of; 0 marks none."""
        for item in self._items():
            item.setFont(NAME, theme.font(bold=line in (item.data(NAME, LINES) or ())))

    def lit_rows(self) -> list[str]:
        """The names of the rows that are marked."""
        return [each.text(NAME) for each in self._items() if each.font(NAME).bold()]

    def _items(self) -> Iterable[QTreeWidgetItem]:
        for place in range(self.tree.topLevelItemCount()):
            item = self.tree.topLevelItem(place)
            yield item
            yield from (item.child(at) for at in range(item.childCount()))

    def _chosen(self, item: QTreeWidgetItem) -> None:
        lines = item.data(NAME, LINES)
        if lines:
            self.lines_chosen.emit(lines)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.tree.setAccessibleName(tr("Time of the operators"))
        words = ((tr("Operator"), tr("The kernels that ran; below each the lines that it ran for")),
                 (tr("ms"), tr("Milliseconds of its kernels in one step")),
                 (tr("Share"), tr("Of the time of a recorded step")),
                 (tr("MB"), tr("Millions of bytes that it reads and gives in one step")),
                 (tr("GFLOP/s"),
                  tr("Billions of multiplications and additions a second; a dash where nobody counts")),
                 (tr("Calls"), tr("How often it runs in one step")))  # fmt: skip
        head = self.tree.headerItem()
        for place, (title, tip) in enumerate(words):
            head.setText(place, title)
            head.setToolTip(place, tip)
            if place != NAME:
                head.setTextAlignment(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)
