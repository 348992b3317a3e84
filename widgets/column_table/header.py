"""The header of a table: a click sorts, with Shift by a further column; titles are moved and resized."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QHeaderView, QWidget

LEAST = 40


class ColumnHeader(QHeaderView):
    """``sort_requested`` carries the column that was clicked, and whether Shift was held."""

    sort_requested = Signal(int, bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._shift = False
        self.setSectionsMovable(True)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(LEAST)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.sectionClicked.connect(lambda column: self.sort_requested.emit(column, self._shift))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def order(self) -> list[int]:
        """The columns from left to right."""
        return [self.logicalIndex(place) for place in range(self.count())]

    def restore_order(self) -> None:
        """Put the columns in the order of the model."""
        for place in range(self.count()):
            self.moveSection(self.visualIndex(place), place)
