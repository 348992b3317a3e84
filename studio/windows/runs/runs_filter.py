"""Above the list of runs: a box that filters them, and the order in which they stand."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QLineEdit, QMenu, QToolButton, QWidget

from widgets import theme
from widgets.icons import set_icon
from widgets.layouts import horizontal
from widgets.retranslated import Retranslated

SORTS = ("date", "name", "accuracy", "loss", "time", "steps")


class RunsFilter(Retranslated, QWidget):
    """``filter_changed`` carries the words, ``sort_chosen`` one of ``SORTS`` (the same once more turns it
    round), ``hidden_toggled`` whether hidden runs are shown."""

    filter_changed = Signal(str)
    sort_chosen = Signal(str)
    hidden_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QLineEdit()
        self.box.setClearButtonEnabled(True)
        self.box.textChanged.connect(self.filter_changed)
        self.order = QToolButton()
        set_icon(self.order, "sort")
        self.menu = QMenu(self)
        self.order.clicked.connect(self._open)
        self._group = QActionGroup(self)
        self._sorts = {}
        for sort in SORTS:
            action = self._sorts[sort] = self.menu.addAction("")
            action.setCheckable(True)
            self._group.addAction(action)
            action.triggered.connect(lambda _=False, which=sort: self.sort_chosen.emit(which))
        self.menu.addSeparator()
        self.hidden = self.menu.addAction("")
        self.hidden.setCheckable(True)
        self.hidden.triggered.connect(self.hidden_toggled)
        layout = horizontal(self, 0, theme.SPACE_XS)
        layout.addWidget(self.box, 1)
        layout.addWidget(self.order)
        self._sort, self._descending = "date", True
        self.retranslate()

    def show_order(self, sort: str, descending: bool, hidden: bool) -> None:
        """Which order holds."""
        self._sort, self._descending = sort, descending
        self._sorts[sort].setChecked(True)
        self.hidden.setChecked(hidden)
        self.retranslate()

    def _open(self) -> None:
        self.menu.popup(self.order.mapToGlobal(self.order.rect().bottomLeft()))

    def action(self, sort: str) -> object:
        """The entry of the menu that chooses an order."""
        return self._sorts[sort]

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        words = {
            "date": tr("Date"),
            "name": tr("Name"),
            "accuracy": tr("Accuracy"),
            "loss": tr("Validation loss"),
            "time": tr("Training time"),
            "steps": tr("Steps"),
        }
        for sort, text in words.items():
            arrow = ("\u2193" if self._descending else "\u2191") if sort == self._sort else ""
            self._sorts[sort].setText(f"{text} {arrow}".rstrip())
        self.hidden.setText(tr("Show hidden runs"))
        self.box.setPlaceholderText(tr("Filter runs"))
        self.box.setAccessibleName(tr("Filter runs"))
        self.box.setToolTip(tr("By name, tag, note, model, data or state"))
        turn = tr("largest or newest first") if self._descending else tr("smallest or oldest first")
        self.order.setToolTip(tr("Sorted by: {0}, {1}").format(words[self._sort], turn))
        self.order.setAccessibleName(tr("Order of the runs"))
