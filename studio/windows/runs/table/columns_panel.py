"""The right dock next to Runs: which columns the table has, found by a part of their names."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QWidget

from widgets import theme
from widgets.elided import ElidedButton
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

ROLE = Qt.ItemDataRole.UserRole


class ColumnsPanel(Retranslated, QFrame):
    """``toggled`` carries a column's name and whether it shall be shown; ``reset_requested`` asks for the
    columns that the table chooses itself."""

    toggled = Signal(str, bool)
    reset_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.box, self.list, self.reset = QLineEdit(), QListWidget(), ElidedButton()
        self.box.setClearButtonEnabled(True)
        self.box.textChanged.connect(self._filter)
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.itemChanged.connect(self._changed)
        self.reset.clicked.connect(self.reset_requested)
        self._columns: list[tuple[str, str, str]] = []
        self._offered: tuple[object, ...] = ()
        layout = vertical(self, (theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_M))
        layout.addWidget(self.box)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.reset)
        self.retranslate()

    def set_columns(self, columns: Sequence[tuple[str, str, str]], shown: Sequence[str]) -> None:
        """Offer columns, each of a name, a title and the name for filters; check those that are ``shown``."""
        self.list.blockSignals(True)
        language = self.tr("{0}; in filters: {1}")
        if (language, *columns) != self._offered:
            self._offered = (language, *columns)
            self._columns = list(columns)
            self.list.clear()
            for name, title, short in columns:
                item = QListWidgetItem(title)
                item.setData(ROLE, name)
                item.setToolTip(language.format(title, short))
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                self.list.addItem(item)
        checked, names = Qt.CheckState, set(shown)
        for item in self._items():
            state = checked.Checked if item.data(ROLE) in names else checked.Unchecked
            if item.checkState() != state or item.data(Qt.ItemDataRole.CheckStateRole) is None:
                item.setCheckState(state)
        self.list.blockSignals(False)
        self.list.viewport().update()
        self._filter()

    def item(self, name: str) -> QListWidgetItem:
        """The row of a column."""
        return next(item for item in self._items() if item.data(ROLE) == name)

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(row) for row in range(self.list.count())]

    def _filter(self) -> None:
        words = self.box.text().casefold().split()
        for item, (name, title, short) in zip(self._items(), self._columns, strict=True):
            text = f"{name} {title} {short}".casefold()
            item.setHidden(not all(word in text for word in words))

    def _changed(self, item: QListWidgetItem) -> None:
        self.toggled.emit(item.data(ROLE), item.checkState() == Qt.CheckState.Checked)

    def retranslate(self) -> None:
        """Set all texts, in the current language."""
        self.box.setPlaceholderText(self.tr("Find a column"))
        self.box.setAccessibleName(self.tr("Find a column"))
        self.list.setAccessibleName(self.tr("Columns of the table"))
        self.reset.setText(self.tr("Choose columns automatically"))
        self.reset.setToolTip(
            self.tr("Show the settings that differ between the runs, and the results that they have")
        )
