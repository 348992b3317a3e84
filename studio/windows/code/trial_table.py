"""Below the editor: a table about the edited model whose rows lead to its lines, and why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QFont
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from studio.windows.controls import ActionButton, ValueLabel
from widgets import theme
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated

NAME = 0
LINES = Qt.ItemDataRole.UserRole
ResizeMode = QHeaderView.ResizeMode
FITTING = ResizeMode.ResizeToContents
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class TrialTable(Retranslated, QWidget):
    """``lines_chosen`` carries the source lines of the row that was clicked or entered."""

    lines_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.buttons: list[ActionButton] = []
        self.problem, self.about = ValueLabel(), mute(wrap=True)
        self.tree = QTreeWidget()
        self.tree.setUniformRowHeights(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setIndentation(theme.SPACE_M)
        self.tree.setProperty("focusRing", True)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(36)
        header.setResizeContentsPrecision(0)  # of the rows in view: there may be thousands
        header.setFont(theme.font(theme.SECTION_PX, bold=True))
        self._row = horizontal(None, 0)
        self._row.addWidget(self.about, 1)
        self._second_row = horizontal(None, 0)
        self._second_row.addStretch(1)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addLayout(self._row)
        layout.addLayout(self._second_row)
        layout.addWidget(self.problem)
        layout.addWidget(self.tree, 1)
        layout.addStretch(0)
        self.tree.itemClicked.connect(self._chosen)
        self.tree.itemActivated.connect(self._chosen)
        self.set_problem("")
        self.retranslate()

    def add_action(self, action: QAction, icon: str, role: str = "") -> None:
        """A button for a command, shown while the command can be given."""
        button = ActionButton(action, icon, role)
        self.buttons.append(button)
        self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        action.changed.connect(lambda: button.setVisible(action.isEnabled()))
        button.setVisible(action.isEnabled())

    def add_button(self, button: QPushButton) -> None:
        """A button below what was found, hidden at first."""
        self._second_row.insertWidget(self._second_row.count() - 1, button)
        button.hide()

    def set_problem(self, text: str) -> None:
        """Why nothing was found; empty where nothing is wrong."""
        self.problem.set_value(text)
        self.problem.setVisible(bool(text))

    def set_about(self, text: str) -> None:
        """What was found, and how."""
        self.about.setText(text)

    def set_heads(self, heads: Sequence[tuple[str, str, bool]]) -> None:
        """The columns: title, what stands there, and whether these are numbers; words share the room."""
        self.tree.setColumnCount(len(heads))
        header, head = self.tree.header(), self.tree.headerItem()
        for place, (title, tip, number) in enumerate(heads):
            header.setSectionResizeMode(place, FITTING if number else ResizeMode.Stretch)
            head.setText(place, title)
            head.setToolTip(place, tip)
            head.setTextAlignment(place, RIGHT if number else LEFT)

    def name_font(self, bold: bool = False) -> QFont:
        """Of the first column."""
        return theme.font(bold=bold)

    def light_line(self, line: int) -> None:
        """Write the rows in bold that a line of the source is part of; 0 marks none."""
        for item in self._items():
            item.setFont(NAME, self.name_font(bold=line in (item.data(NAME, LINES) or ())))

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
